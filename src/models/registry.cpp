#include "models/registries.hpp"

namespace carom::models::detail {

const NamedDefinitions<Definition>& impact_registry() {
  static const NamedDefinitions<Definition> instance(
      "model", {rocking_block(), compass_gait(), box_wall(), ramone(), disk_stack(), cube_drop(),
                tripod(), bar_on_steps(), ball_in_corner(), newtons_cradle(), cube_two_corners()});
  return instance;
}

}  // namespace carom::models::detail
