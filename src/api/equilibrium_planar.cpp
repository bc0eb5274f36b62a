#include <carom/equilibrium_planar.hpp>

#include <cmath>
#include <string>

#include "core/arrays.hpp"
#include "core/backends.hpp"
#include "core/require.hpp"
#include "core/settings.hpp"
#include "core/words.hpp"
#include "core/workspace.hpp"
#include "equilibrium/planar_backends.hpp"

namespace carom {

namespace {

/// Refuses shapes that do not fit; the backend that will do the work.
Backend check(const PostureBatch& batch, const PlanarSettings& settings, Backend requested) {
  settings.validate();
  if (batch.dimension != 2) {
    require::refuse({}, "dimension", {}, std::to_string(batch.dimension),
                    "must be 2 for a planar equilibrium");
  }
  require::at_least("problems", batch.problems, 0);
  require::between("vertices", batch.vertices, 0, kMaxWrenchVertices);
  if (batch.problems > 0) require::between("contacts", batch.contacts, 1, kMaxPostureContacts);
  arrays::require_sizes(batch, batch);
  const Backend backend = resolve(requested);
  require::reachable(backend, arrays::common_space("posture batch", batch));
  if (backend != Backend::cpu && settings.method != PlanarMethod::lp) {
    throw InvalidInput(
        Refusal{.field = "method",
                .relation = "",
                .value = std::string(to_string(settings.method)),
                .rule = "is known only to backend cpu, not to " + std::string(to_string(backend))});
  }
  return backend;
}

}  // namespace

PlanarMethod planar_method(std::string_view name) {
  if (const auto method = value_of<PlanarMethod>(name)) return *method;
  throw InvalidInput(Refusal{.field = "unknown method",
                             .relation = "",
                             .value = "\"" + std::string(name) + "\"",
                             .rule = "known are " + listed<PlanarMethod>()});
}

void PlanarSettings::validate() const { require::settings(*this); }

PlanarResult planar_equilibrium(const PostureBatch& batch, const PlanarSettings& settings,
                                Backend backend, Workspace* workspace) {
  const Backend chosen = check(batch, settings, backend);
  const WorkspaceLease lease(workspace);
  return entries<PlanarEntries>(chosen).equilibrium(batch, settings, lease.state());
}

PlanarMargin planar_margins(const PostureBatch& batch, const Buffer<double>& centre_of_mass,
                            const PlanarSettings& settings, Backend backend, Workspace* workspace) {
  const Backend chosen = check(batch, settings, backend);
  require::size("centre_of_mass", centre_of_mass.size(),
                2 * static_cast<std::size_t>(batch.problems));
  if (centre_of_mass.space() != batch.position.space()) {
    throw InvalidInput(Refusal{.field = "centre_of_mass",
                               .rule = "must live in the memory space of the posture batch"});
  }
  const WorkspaceLease lease(workspace);
  return entries<PlanarEntries>(chosen).margins(batch, centre_of_mass, settings, lease.state());
}

}  // namespace carom
