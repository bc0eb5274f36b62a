// Planning a step: three feet stand on rough ground, the rear one is lifted. A million random
// stances (next foothold and centre of mass) are screened by the disturbances that they withstand.
//   plan_step [STANCES] [BEST.json]     then: carom equilibrium BEST.json --problem 0 --plot
//   step.svg
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <random>
#include <vector>

#include <carom/carom.hpp>

namespace {

constexpr std::int64_t kChunk = 65536;
constexpr double kFriction = 0.5;

double ground(double x) { return 0.12 * std::sin(2.1 * x) + 0.05 * std::sin(7.3 * x + 1.0); }
double slope(double x) { return 0.252 * std::cos(2.1 * x) + 0.365 * std::cos(7.3 * x + 1.0); }

void add_foot(carom::Posture& posture, double x) {
  const double length = std::hypot(1.0, slope(x));
  posture.position.insert(posture.position.end(), {x, ground(x)});
  posture.normal.insert(posture.normal.end(), {-slope(x) / length, 1.0 / length});
  posture.friction.push_back(kFriction);
  ++posture.contacts;
}

struct Stance {
  double foothold = 0.0;           // x of the next foot [m]
  std::array<double, 2> centre{};  // of mass [m]
  double scale = 0.0;              // of the disturbances that it withstands
};

// Two feet stay, the third is put down at x; the body may lean and be pushed: |f_x| up to 0.15 of
// its weight, a torque of up to 0.05 m times its weight.
carom::Posture posture_of(const Stance& stance) {
  carom::Posture posture;
  posture.name = "stance";
  for (const double x : {0.0, 0.45, stance.foothold}) add_foot(posture, x);
  posture.wrench_vertices = carom::wrench_rectangle(-0.15, 0.15, -0.05, 0.05);
  return posture;
}

void write(const char* file, const std::vector<Stance>& best) {
  std::ofstream stream(file);
  stream.precision(17);
  stream << "[";
  for (std::size_t i = 0; i < best.size(); ++i) {
    const carom::Posture posture = posture_of(best[i]);
    stream << (i > 0 ? ",\n " : "") << "{\"name\": \"stance " << i << "\", \"contacts\": [";
    for (std::size_t c = 0; c < 3; ++c) {
      stream << (c > 0 ? ", " : "") << "{\"position\": [" << posture.position[2 * c] << ", "
             << posture.position[2 * c + 1] << "], \"normal\": [" << posture.normal[2 * c] << ", "
             << posture.normal[2 * c + 1] << "], \"friction\": " << posture.friction[c] << "}";
    }
    stream << "], \"neighbourhood\": {\"p\": [-0.15, 0.15], \"q\": [-0.05, 0.05]}}";
  }
  stream << "]\n";
  if (!stream.flush()) throw std::runtime_error(std::string(file) + " cannot be written");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::int64_t count = argc > 1 ? std::strtoll(argv[1], nullptr, 10) : 1000000;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit;
  std::vector<Stance> best;
  std::int64_t held = 0;
  double seconds = 0.0;
  for (std::int64_t begin = 0; begin < count; begin += kChunk) {
    const std::int64_t end = std::min(count, begin + kChunk);
    std::vector<Stance> stances;
    std::vector<carom::Posture> postures;
    std::vector<double> centres;
    for (std::int64_t i = begin; i < end; ++i) {
      Stance stance;
      stance.foothold = 0.6 + 0.7 * unit(random);
      stance.centre = {0.1 + 0.9 * unit(random), 0.4 + 0.3 * unit(random)};
      stances.push_back(stance);
      postures.push_back(posture_of(stance));
      centres.insert(centres.end(), stance.centre.begin(), stance.centre.end());
    }
    const carom::PostureBatch batch = carom::make_batch(postures);
    const auto start = std::chrono::steady_clock::now();
    const carom::PlanarMargin margin =
        carom::planar_margins(batch, carom::Buffer<double>::from(centres));
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (std::size_t i = 0; i < stances.size(); ++i) {
      stances[i].scale = margin.scale.host()[i];
      if (!(stances[i].scale >= 1.0)) continue;  // NaN: falls over without any disturbance
      ++held;
      best.push_back(stances[i]);
    }
    std::sort(best.begin(), best.end(),
              [](const Stance& a, const Stance& b) { return a.scale > b.scale; });
    if (best.size() > 5) best.resize(5);
  }
  std::printf("%lld stances, %lld withstand all disturbances; %.2f million margins a second\n",
              static_cast<long long>(count), static_cast<long long>(held),
              1e-6 * static_cast<double>(count) / seconds);
  std::printf("best:  foothold x [m]   centre of mass [m]     disturbances withstood\n");
  for (const Stance& stance : best) {
    std::printf("       %8.4f         (%7.4f, %7.4f)     %.3f times the given ones\n",
                stance.foothold, stance.centre[0], stance.centre[1], stance.scale);
  }
  if (argc > 2) write(argv[2], best);
  return best.empty() ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "plan_step: %s\n", error.what());
  return 1;
}
