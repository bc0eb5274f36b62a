#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "enclosure/double_description.hpp"
#include "enclosure/points.hpp"
#include "enclosure/rounded_impact.hpp"

namespace carom::enclosure {

/// What one contact does in a face; a separating contact's tangential velocity has no part in it
/// unless its store is filled. An approaching contact's store may be.
enum class ContactFace : std::uint8_t {
  separating,
  touching_negative,  ///< u_n = 0, u_t < 0
  touching_sticking,
  touching_positive,
  approaching_negative,  ///< u_n < 0, u_t < 0
  approaching_sticking,
  approaching_positive,
  held_negative,  ///< u_n = 0, u_t < 0, with a filled store
  held_sticking,
  held_positive,
  releasing_negative,  ///< u_n > 0, u_t < 0, likewise
  releasing_sticking,
  releasing_positive,
  guarded_negative,  ///< the same where the guard may have ended it
  guarded_sticking,
  guarded_positive,
  // Only for stores of speeds; their contacts approach more slowly than they did before, or:
  fastest_negative,  ///< u_n < 0, u_t < 0, as fast as ever while it pushed
  fastest_sticking,
  fastest_positive,
  faster,  ///< u_n < 0, faster than that: it does not push
  spent,   ///< u_n > 0, at least what the store gives back
};
inline constexpr int kContactFaces = 7;
inline constexpr int kContactFacesWithStores = 21;

/// kFaceBits a contact, contact 0 lowest.
using FaceCode = std::uint64_t;
inline constexpr int kFaceBits = 5;
inline constexpr FaceCode kFaceMask = (1U << kFaceBits) - 1;

constexpr ContactFace contact_face(FaceCode code, int contact) {
  return static_cast<ContactFace>((code >> (kFaceBits * contact)) & kFaceMask);
}
constexpr FaceCode face_code(ContactFace face, int contact) {
  return static_cast<FaceCode>(face) << (kFaceBits * contact);
}
constexpr bool within(ContactFace face, ContactFace first) {
  return face >= first && static_cast<int>(face) < static_cast<int>(first) + 3;
}
constexpr bool filled(ContactFace face) {
  return (face >= ContactFace::held_negative && face <= ContactFace::guarded_positive) ||
         face == ContactFace::spent;
}
constexpr bool touching(ContactFace face) {
  return within(face, ContactFace::touching_negative) || within(face, ContactFace::held_negative);
}
constexpr bool approaching(ContactFace face) {
  return within(face, ContactFace::approaching_negative) ||
         within(face, ContactFace::fastest_negative) || face == ContactFace::faster;
}
constexpr bool fastest(ContactFace face) { return within(face, ContactFace::fastest_negative); }
/// Whether it does not push.
constexpr bool idle(ContactFace face) {
  return face == ContactFace::separating || face == ContactFace::faster ||
         face == ContactFace::spent;
}
constexpr bool guarded(ContactFace face) { return within(face, ContactFace::guarded_negative); }
/// Sign of u_t where the contact pushes.
constexpr int slip(ContactFace face) { return (static_cast<int>(face) + 2) % 3 - 1; }

/// A cone of contact velocities on which the inclusion's rates are the same.
struct Face {
  bool terminal = true;      ///< nothing approaches, all stores are empty
  std::vector<Vector> zero;  ///< rows that are 0 on it
  std::vector<Vector> side;  ///< rows that are >= 0 on its closure
  std::vector<int> side_of;  ///< the rows (Signs) that they are, or the opposites of
  std::vector<Vector>
      motion;  ///< extreme rays of the rates that stay in it; none in a terminal one
  /// With stores: those of the velocities, with normal impulses in the place of stores.
  std::vector<Vector> pushed;
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
  /// Whether some motion in the face makes all rows of `leaving` (bit k: that of Signs, which is 0
  /// where the motion starts) get the face's sign at once.
  bool enterable(FaceCode code, std::uint32_t leaving);
  /// The points that polyhedra of the faces have.
  PointTable& points() { return points_; }
  [[nodiscard]] bool has_store(int contact) const {
    return has_stores_ && impact_.store_at(contact) > 0;
  }
  /// Whether it is known where the guard does not end a contact's release.
  [[nodiscard]] bool knows_guard(int contact) const;
  /// RoundedImpact::speeds
  [[nodiscard]] bool speeds() const { return impact_.speeds; }

 private:
  enum class Known : std::uint8_t { no, enterable, not_enterable };

  [[nodiscard]] std::size_t place(FaceCode code) const {
    if (impact_.contacts == 2) {
      return static_cast<std::size_t>((code & kFaceMask) + base_ * (code >> kFaceBits));
    }
    std::size_t at = 0, times = 1;
    for (; code != 0; code >>= kFaceBits, times *= base_) at += times * (code & kFaceMask);
    return at;
  }
  [[nodiscard]] Face make(FaceCode code) const;
  void find_gains(FaceCode code, std::size_t store, const Vector& ray,
                  std::vector<Integer>& gains) const;
  void find_motion(FaceCode code, const std::vector<const Vector*>& pushes, Face& face) const;
  void add_gains(FaceCode code, Vector ray, Face& face) const;
  [[nodiscard]] int sign_in(FaceCode code, int row) const;
  [[nodiscard]] bool find_enterable(FaceCode code, std::uint32_t leaving);

  const RoundedImpact& impact_;
  bool has_stores_;
  std::size_t base_;  ///< faces of a contact
  PointTable points_;
  std::vector<std::unique_ptr<const Face>> faces_;  // by place
  std::vector<std::unique_ptr<const FaceHulls>> hulls_;
  std::vector<std::vector<Known>> enterable_;  // by place and what leaves
};

}  // namespace carom::enclosure
