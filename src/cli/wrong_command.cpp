#include "cli/wrong_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <carom/models/models.hpp>
#include <carom/models/motions.hpp>
#include <carom/models/postures.hpp>
#include <carom/models/scenarios.hpp>
#include <carom/models/stances.hpp>

namespace carom::cli {

namespace {

template <class Known>
bool knows(const Known& known, const std::string& name) {
  return std::any_of(known.begin(), known.end(),
                     [&name](const auto& model) { return model.name == name; });
}

struct Owner {
  io::FileKind kind;
  const char* holds;
  const char* command;
};
constexpr Owner kOwners[] = {
    {io::FileKind::impact, "impacts", "impact"},
    {io::FileKind::posture, "postures", "equilibrium"},
    {io::FileKind::step, "steps of arrays", "step"},
    {io::FileKind::stance, "stances", "stability"},
    {io::FileKind::motion, "motions", "motion"},
    {io::FileKind::program, "an LCP, LP, QP or friction problem", "solve"}};

}  // namespace

std::string right_command(const std::string& name) {
  const auto said = [&name](const char* what, const char* command) {
    return fmt::format("{0} is a {1}: carom {2} {0}", name, what, command);
  };
  if (knows(models::all(), name)) return said("model of an impact", "impact");
  if (knows(models::postures(), name)) return said("posture", "equilibrium");
  if (knows(models::scenarios(), name)) return said("scenario", "step");
  if (knows(models::stances(), name)) return said("stance", "stability");
  if (knows(models::motions(), name)) return said("motion", "motion");
  return "";
}

void require_kind(const std::string& file, io::FileKind wanted) {
  const io::FileKind kind = io::kind_of_file(file);
  if (kind == wanted) return;
  if (kind == io::FileKind::answer) {
    throw InvalidInput(
        fmt::format("{0} was printed by --json, which keeps no problems: carom rerun {0} repeats "
                    "its run; an HDF5 file of --output stands for its problems",
                    file));
  }
  for (const Owner& owner : kOwners) {
    if (owner.kind != kind) continue;
    throw InvalidInput(
        fmt::format("{0} holds {1}: carom {2} {0}", file, owner.holds, owner.command));
  }
}

}  // namespace carom::cli
