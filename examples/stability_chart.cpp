// The chart of a biped on a slope: which stances return to rest, and by which proof.
#include <carom/stability.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  constexpr int kRows = 24, kColumns = 60;
  const double alpha = std::acos(-1.0) / 6.0, middle = std::tan(alpha);
  std::vector<carom::Stance> stances;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const double friction = 0.02 + 1.1 * column / (kColumns - 1);
      const double d = 1.18 - 1.1 * row / (kRows - 1);
      carom::Stance stance;
      stance.angle = alpha;
      stance.contacts = {{middle - d, 1.0, 0.0, friction, 0.0}, {middle + d, 1.0, 0.0, 2.0, 0.0}};
      stances.push_back(stance);
    }
  }
  const carom::StanceBatch batch = carom::stance_batch(stances);
  const carom::StabilityResult result = carom::analyse_stability(batch);
  const auto exact = carom::verify_certificates(batch, result);
  long proven = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const auto p = static_cast<std::size_t>(row) * kColumns + static_cast<std::size_t>(column);
      // S stable, U unstable, A ambiguous, ? undecided, - no equilibrium, P Painleve
      std::putchar("SUA?-P!"[static_cast<int>(result.verdict.host()[p])]);
      proven += exact[p];
    }
    std::putchar('\n');
  }
  std::printf("%ld of %zu proven stable in exact arithmetic\n", proven, stances.size());
  return proven > 0 ? 0 : 1;
}
