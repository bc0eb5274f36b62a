#include "models/registries.hpp"

namespace carom::models::detail {

const NamedDefinitions<PostureDefinition>& posture_registry() {
  static const NamedDefinitions<PostureDefinition> instance("posture", [] {
    std::vector<PostureDefinition> all;
    for (const auto& family : {planar_postures(), spatial_postures()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }());
  return instance;
}

}  // namespace carom::models::detail
