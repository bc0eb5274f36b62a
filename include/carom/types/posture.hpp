#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <carom/types/batch.hpp>

/// The plain structs of carom/posture.hpp.
namespace carom {

/// Largest number of contacts of one posture.
inline constexpr int kMaxPostureContacts = 64;
/// Largest number of vertices of a posture's set of wrenches.
inline constexpr int kMaxWrenchVertices = 32;

/// Components of a wrench: force, then torque about the centre of mass.
constexpr int wrench_size(int dimension) { return dimension == 2 ? 3 : 6; }

/// Contacts of a body whose centre of mass is to be found. World frame, y (planar) or z (spatial)
/// up; a planar torque is positive counter-clockwise. All arrays are row-major.
struct Posture {
  std::string name;
  int dimension = 2;             ///< 2 planar, 3 spatial
  int contacts = 0;              ///< k, 1..kMaxPostureContacts
  std::vector<double> position;  ///< x_i [m], [k, dimension]; of a patch: its start
  std::vector<double> normal;    ///< n_i, [k, dimension], unit vectors pointing into the body; off
                                 ///< by at most 1e-6 in length they are normalised
  std::vector<double> friction;  ///< mu_i, [k], >= 0
  std::vector<double> length;    ///< L_i [m], [k], >= 0: planar patch from x_i along t_i, where
                                 ///< n_i = J t_i; empty: points
  std::vector<double> wrench;    ///< external force [N] and torque [N m], [wrench_size]; empty:
                                 ///< gravity of unit weight, downwards
  std::vector<double> wrench_vertices;  ///< [vertices, wrench_size]: the external wrench may be any
                                        ///< convex combination (the set W); empty: only `wrench`
};

struct PostureSizes {
  std::int64_t problems = 0;
  int dimension = 2;
  int contacts = 0;  ///< k
  int vertices = 0;  ///< of the sets of wrenches; 0: none
};

template <template <class> class Array>
struct PostureBatchArrays {
  using Sizes = PostureSizes;

  Array<double> position;         ///< [problems, k, dimension]
  Array<double> normal;           ///< [problems, k, dimension]
  Array<double> friction;         ///< [problems, k]
  Array<double> length;           ///< [problems, k], or empty
  Array<double> wrench;           ///< [problems, wrench_size]
  Array<double> wrench_vertices;  ///< [problems, vertices, wrench_size]

  /// See batch.hpp.
  template <class Visit, class... Tables>
  static void each_array(const Sizes& sizes, Visit&& visit, Tables&&... tables) {
    const auto [p, dimension, k, vertices] = sizes;
    const int wrench = wrench_size(dimension);
    visit("position", Extents{p, k, dimension}, tables.position...);
    visit("normal", Extents{p, k, dimension}, tables.normal...);
    visit("friction", Extents{p, k}, tables.friction...);
    visit("length", Extents{p, k}.or_empty(), tables.length...);
    visit("wrench", Extents{p, wrench}, tables.wrench...);
    visit("wrench_vertices", Extents{p, vertices, wrench}, tables.wrench_vertices...);
  }
};

/// Postures of one dimension and number of contacts, in one memory space.
struct PostureBatch : PostureSizes, PostureBatchArrays<Buffer> {
  [[nodiscard]] PostureBatch to(MemorySpace space) const { return copy_to(*this, space); }
};

}  // namespace carom
