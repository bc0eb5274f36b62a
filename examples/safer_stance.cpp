// An unstable stance of a walker is made stable by moving its rear foot back.
#include <carom/stability.hpp>

#include <cstdio>

int main() {
  carom::Stance stance;
  stance.angle = 0.5;
  stance.contacts = {{0.25, 1.0, 0.0, 0.3, 0.0}, {1.1, 1.0, 0.0, 2.0, 0.0}};
  for (int step = 0; step < 40; ++step) {
    const carom::StabilityResult result =
        carom::analyse_stability(carom::stance_batch({&stance, 1}));
    const carom::StabilityVerdict verdict = result.verdict.host()[0];
    std::printf("rear foot at %6.3f m: %s\n", stance.contacts[0].l,
                std::string(carom::to_string(verdict)).c_str());
    if (verdict == carom::StabilityVerdict::stable) return 0;
    stance.contacts[0].l -= 0.05;
  }
  return 1;
}
