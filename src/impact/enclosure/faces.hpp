#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "impact/enclosure/rounded_impact.hpp"

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
  std::vector<Vector>
      motion;  ///< extreme rays of the rates that stay in it; none in a terminal one
};

class Faces {
 public:
  explicit Faces(const RoundedImpact& impact) : impact_(impact) {}

  const Face& face(FaceCode code);
  /// Whether some motion in the face makes all rows of `leaving` (bit k: u_k, which is 0 where the
  /// motion starts) get the face's sign at once.
  bool enterable(FaceCode code, std::uint32_t leaving);

 private:
  [[nodiscard]] Face make(FaceCode code) const;

  const RoundedImpact& impact_;
  std::unordered_map<FaceCode, Face> faces_;
  std::map<std::pair<FaceCode, std::uint32_t>, bool> enterable_;
};

}  // namespace carom::enclosure
