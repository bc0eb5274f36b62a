#include "io/picture_panels.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace carom::io {

namespace {

constexpr std::size_t kMaxPanels = 9;

// Contact names as words: gnuplot would read an underscore as a subscript.
std::string spoken(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

class PanelMaker {
 public:
  explicit PanelMaker(const run::ImpactRun& run) : run_(run), contacts_(run.problem.contacts) {}

  [[nodiscard]] std::string name(int contact) const {
    return spoken(run_.contact_names[static_cast<std::size_t>(contact)]);
  }
  [[nodiscard]] std::string normal_label(int contact) const {
    return fmt::format("normal velocity, {}  [m/s]", name(contact));
  }
  [[nodiscard]] std::string tangent_label(int contact, int direction = 0) const {
    if (run_.problem.dimension == 2) {
      return fmt::format("tangential velocity, {}  [m/s]", name(contact));
    }
    return fmt::format("tangential velocity {}, {}  [m/s]", direction + 1, name(contact));
  }
  [[nodiscard]] int tangent_row(int contact, int direction = 0) const {
    return contacts_ + contact * (run_.problem.dimension - 1) + direction;
  }

  [[nodiscard]] Panel normals(int x, int y) const {
    return {"Normal velocities", x, y, normal_label(x), normal_label(y)};
  }
  // normal over tangential velocity
  [[nodiscard]] Panel plane(int contact) const {
    return {fmt::format("Contact {}", name(contact)), tangent_row(contact), contact,
            tangent_label(contact), normal_label(contact)};
  }
  [[nodiscard]] Panel tangents(int contact) const {
    return {fmt::format("Sliding at {}", name(contact)), tangent_row(contact, 0),
            tangent_row(contact, 1), tangent_label(contact, 0), tangent_label(contact, 1)};
  }

 private:
  const run::ImpactRun& run_;
  int contacts_;
};

PanelLayout general(const run::ImpactRun& run, const PanelMaker& make) {
  const int contacts = run.problem.contacts;
  PanelLayout layout;
  // neighbours in contact order, and the last with the first where that is another pair
  const int pairs = contacts < 2 ? 0 : contacts == 2 ? 1 : contacts;
  for (int i = 0; i < pairs && i < 4; ++i) {
    layout.panels.push_back(make.normals(i, (i + 1) % contacts));
  }
  for (int i = 0; i < contacts && layout.panels.size() < kMaxPanels; ++i) {
    layout.panels.push_back(run.problem.dimension == 2 || contacts == 1 ? make.plane(i)
                                                                        : make.tangents(i));
  }
  if (contacts == 1 && run.problem.dimension == 3) layout.panels.push_back(make.tangents(0));
  const std::size_t count = layout.panels.size();
  layout.columns = count <= 3 ? static_cast<int>(count) : count == 4 ? 2 : count <= 6 ? 3 : 4;
  if (count == 9) layout.columns = 3;
  return layout;
}

}  // namespace

PanelLayout panels_for(const run::ImpactRun& run) {
  const PanelMaker make(run);
  PanelLayout layout;
  if (run.model == "rocking_block") {  // Figure 9
    layout.columns = 1;
    layout.panel_width = 520;
    layout.panels = {make.normals(1, 0), make.plane(0)};
    return layout;
  }
  if (run.model == "disk_stack") {  // Figure 14 b, c: left against right, then the contacts
    layout.columns = 3;
    layout.panels = {make.normals(0, 1), make.normals(3, 4), make.plane(0),
                     make.plane(3),      make.plane(2),      make.plane(4)};
    layout.panels[0].title = "Floor: left against right";
    layout.panels[1].title = "Top disk: left against right";
    return layout;
  }
  if (run.problem.dimension == 2 && run.problem.contacts == 2) {  // Figures 10, 11 and 13
    layout.columns = 3;
    layout.panels = {make.plane(0), make.normals(0, 1), make.plane(1)};
    return layout;
  }
  return general(run, make);
}

}  // namespace carom::io
