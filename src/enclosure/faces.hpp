#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "enclosure/double_description.hpp"
#include "enclosure/points.hpp"
#include "enclosure/rounded_impact.hpp"

namespace carom::enclosure {

/// What one contact does in a face; a separating contact's tangential velocity has no part in it.
enum class ContactFace : std::uint8_t {
  separating,
  touching_negative,  ///< u_n = 0, u_t < 0
  touching_sticking,
  touching_positive,
  approaching_negative,  ///< u_n < 0, u_t < 0
  approaching_sticking,
  approaching_positive,
};

/// Three bits a contact, contact 0 lowest.
using FaceCode = std::uint64_t;

constexpr ContactFace contact_face(FaceCode code, int contact) {
  return static_cast<ContactFace>((code >> (3 * contact)) & 7U);
}
constexpr FaceCode face_code(ContactFace face, int contact) {
  return static_cast<FaceCode>(face) << (3 * contact);
}
constexpr bool touching(ContactFace face) {
  return face >= ContactFace::touching_negative && face <= ContactFace::touching_positive;
}
constexpr bool approaching(ContactFace face) { return face >= ContactFace::approaching_negative; }
/// Sign of u_t where the contact pushes.
constexpr int slip(ContactFace face) { return (static_cast<int>(face) + 2) % 3 - 1; }

/// A cone of contact velocities on which the inclusion's rates are the same.
struct Face {
  bool terminal = true;      ///< nothing approaches
  std::vector<Vector> zero;  ///< rows that are 0 on it
  std::vector<Vector> side;  ///< rows that are >= 0 on its closure
  std::vector<int> side_of;  ///< the contact velocities that they are, or the opposites of
  std::vector<Vector>
      motion;  ///< extreme rays of the rates that stay in it; none in a terminal one
};

/// What hulls in a face begin with and are cut with.
struct FaceHulls {
  HullBase base;                  ///< of the motions
  std::vector<Measured> closure;  ///< the sides, and the row of points
};

class Faces {
 public:
  explicit Faces(const RoundedImpact& impact);

  const Face& face(FaceCode code);
  const FaceHulls& hulls(FaceCode code);
  /// Whether some motion in the face makes all rows of `leaving` (bit k: u_k, which is 0 where the
  /// motion starts) get the face's sign at once.
  bool enterable(FaceCode code, std::uint32_t leaving);
  /// The points that polyhedra of the faces have.
  PointTable& points() { return points_; }

 private:
  enum class Known : std::uint8_t { no, enterable, not_enterable };

  [[nodiscard]] Face make(FaceCode code) const;
  void find_motion(const std::vector<const Vector*>& pushes, Face& face) const;
  [[nodiscard]] bool find_enterable(FaceCode code, std::uint32_t leaving);

  const RoundedImpact& impact_;
  PointTable points_;
  std::vector<std::unique_ptr<const Face>> faces_;  // by code
  std::vector<std::unique_ptr<const FaceHulls>> hulls_;
  std::vector<std::vector<Known>> enterable_;  // by code and what leaves
};

}  // namespace carom::enclosure
