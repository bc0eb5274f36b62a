#include <algorithm>
#include <cstdint>
#include <vector>

#include "call.hpp"
#include "families.hpp"
#include "tables.hpp"

/// Rows of a robot's contacts (carom/_mujoco.py), of which most velocities move only a few.
namespace carom::python {

namespace {

/// What moves a body: of each velocity its turn and its way, at the mass centre of the body's tree.
struct Tree {
  const double* com;          // [states, bodies, 3]
  const double* axes;         // [states, nv, 6]
  const std::int64_t* root;   // [bodies]
  const std::uint8_t* above;  // [bodies, nv]
  std::size_t bodies, nv;
};

/// Adds sign times the velocity of `body` at pos, in the frame, to a contact's three rows.
void add_side(const Tree& tree, std::size_t state, std::size_t body, double sign, const double* pos,
              double* moved) {
  const auto root = static_cast<std::size_t>(tree.root[body]);
  const double* const com = tree.com + 3 * (tree.bodies * state + root);
  const double away[3] = {pos[0] - com[0], pos[1] - com[1], pos[2] - com[2]};
  const std::uint8_t* const above = tree.above + tree.nv * body;
  for (std::size_t j = 0; j < tree.nv; ++j) {
    if (above[j] == 0) continue;
    const double* const turn = tree.axes + 6 * (tree.nv * state + j);
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
      moved[3 * j + c] += sign * (turn[3 + c] + (turn[d] * away[e] - turn[e] * away[d]));
    }
  }
}

/// Of the second bodies' points less the first's, in the contacts' frames: [n, 3, nv].
nb::object contact_jacobians(nb::handle state, nb::handle body, nb::handle pos, nb::handle frame,
                             nb::handle com, nb::handle cdof, nb::handle root, nb::handle above) {
  const Buffer<std::int64_t> states = borrowed<std::int64_t>(state),
                             pairs = borrowed<std::int64_t>(body),
                             roots = borrowed<std::int64_t>(root);
  const Buffer<double> places = borrowed<double>(pos), frames = borrowed<double>(frame),
                       centres = borrowed<double>(com), axes = borrowed<double>(cdof);
  const Buffer<std::uint8_t> moves = borrowed<std::uint8_t>(above);
  const std::size_t n = states.size(), bodies = roots.size(), nv = moves.size() / bodies;
  const Tree tree{centres.data(), axes.data(), roots.data(), moves.data(), bodies, nv};
  std::vector<double> J(3 * n * nv);
  without_gil([&] {
    std::vector<double> moved(3 * nv);
    for (std::size_t r = 0; r < n; ++r) {
      const auto first = static_cast<std::size_t>(pairs.data()[2 * r]),
                 second = static_cast<std::size_t>(pairs.data()[2 * r + 1]),
                 of = static_cast<std::size_t>(states.data()[r]);
      std::fill(moved.begin(), moved.end(), 0.0);
      add_side(tree, of, second, 1.0, places.data() + 3 * r, moved.data());
      add_side(tree, of, first, -1.0, places.data() + 3 * r, moved.data());
      const double* const lines = frames.data() + 9 * r;
      for (std::size_t j = 0; j < nv; ++j) {
        if (tree.above[nv * first + j] == 0 && tree.above[nv * second + j] == 0) continue;
        const double* const m = moved.data() + 3 * j;
        for (std::size_t c = 0; c < 3; ++c) {
          const double* const line = lines + 3 * c;
          J[(3 * r + c) * nv + j] = line[0] * m[0] + line[1] * m[1] + line[2] * m[2];
        }
      }
    }
  });
  return array_of(std::move(J));
}

/// Of each state a number of each tree, the least tree that its lines join it with: [states,
/// trees]. touched [lines, trees]: which trees a line moves; state [lines]: whose it is.
nb::object island_numbers(nb::handle touched, nb::handle state, std::size_t states,
                          std::size_t trees) {
  const Buffer<std::uint8_t> lines = borrowed<std::uint8_t>(touched);
  const Buffer<std::int64_t> of = borrowed<std::int64_t>(state);
  std::vector<std::int64_t> number(states * trees);
  without_gil([&] {
    for (std::size_t i = 0; i < number.size(); ++i) {
      number[i] = static_cast<std::int64_t>(i % trees);
    }
    for (std::size_t r = 0; r < of.size(); ++r) {
      const std::uint8_t* const line = lines.data() + trees * r;
      std::int64_t* const mine = number.data() + trees * static_cast<std::size_t>(of.data()[r]);
      const auto first = static_cast<std::size_t>(std::find(line, line + trees, 1) - line);
      for (std::size_t t = first; t < trees; ++t) {
        const std::int64_t a = mine[first], b = mine[t];
        if (line[t] != 0 && a != b) {
          std::replace(mine, mine + trees, std::max(a, b), std::min(a, b));
        }
      }
    }
  });
  return array_of(std::move(number), {states, trees});
}

}  // namespace

void add_contact_rows(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("contact_jacobians", contact_jacobians, "state"_a, "body"_a, "pos"_a, "frame"_a,
             "com"_a, "cdof"_a, "root"_a, "above"_a);
  module.def("island_numbers", island_numbers, "touched"_a, "state"_a, "states"_a, "trees"_a);
}

}  // namespace carom::python
