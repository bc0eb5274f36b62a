#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <carom/types/impact_models.hpp>
#include <carom/types/words.hpp>

/// The plain structs of carom/impact_bounces.hpp.
namespace carom {

/// Rounds of impulses at all contacts, until nothing approaches.
enum class BounceRounds : std::uint8_t {
  poisson,     ///< compression by (31), then e times its normal impulses (Glocker and Pfeiffer,
               ///< Simbody)
  newton,      ///< (31) for speeds that are to be -e times those before (Moreau, most engines)
  reflection,  ///< twice the impulses of (31) of those that approach (Smith et al. 2012), mixed
               ///< with (31) by e
};

template <>
inline constexpr auto words<BounceRounds> = std::to_array<Word<BounceRounds>>({
    {BounceRounds::poisson, "poisson"},
    {BounceRounds::newton, "newton"},
    {BounceRounds::reflection, "reflection"},
});

/// Springs at the contacts whose force is k x^p while they are pressed, and which give back e^2 of
/// their work (Liu, Zhao and Brogliato 2008).
struct CompliantContacts {
  std::vector<double> stiffness;  ///< k of each contact, > 0; without gaps only ratios count
  double exponent = 1.5;          ///< p > 0
  std::vector<double> gaps;  ///< of each contact before the impact [m], >= 0: springs then know
                             ///< which contact is next; empty: all touch throughout
  double step = 0.002;       ///< impulse of a step, of the largest that stops one contact
};

}  // namespace carom
