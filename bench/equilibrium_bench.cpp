#include <cmath>
#include <limits>
#include <numbers>

#include <carom/device/orthonormal_frame.hpp>
#include <carom/equilibrium_spatial.hpp>

#include "lp_peers.hpp"
#include "measure.hpp"

// Support functions of spatial postures: 4 contacts, inscribed cones of 8 sides. The peers get the
// linear program with 6 equations and 34 columns (32 rays, 2 free coordinates). Cold: one direction
// of each posture, from nothing; warm: sweeps of 64 directions from neighbour to neighbour. Regions
// are whole sweeps with both polygons; the peers' part of them is the warm sweep alone.
namespace carom::bench {

namespace {

constexpr int kPostures = 64;
constexpr int kDirections = 64;
constexpr int kSides = 8;
constexpr int kRows = 6;
constexpr int kColumns = 34;

struct PostureSet {
  PostureBatch batch;
  std::vector<double> directions = equal_directions(kDirections);
  std::vector<double> cost;    ///< [directions, columns]
  std::vector<double> matrix;  ///< [postures, rows, columns]
  std::vector<double> bound{0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
  std::vector<double> lower, upper;
  std::vector<double> expected;  ///< [postures, directions], carom's
};

PostureSet four_contacts() {
  PostureSet set;
  const std::vector<Posture> postures = four_contact_postures(kPostures);
  for (const Posture& posture : postures) {
    std::vector<double> matrix(kRows * kColumns, 0.0);
    for (int c = 0; c < 4; ++c) {
      const double* x = posture.position.data() + 3 * c;
      const double* n = posture.normal.data() + 3 * c;
      const double friction = posture.friction[static_cast<std::size_t>(c)];
      double t1[3], t2[3];
      kernels::orthonormal_frame(n, t1, t2);
      for (int s = 0; s < kSides; ++s) {
        const double side = 2.0 * std::numbers::pi * s / kSides;
        double ray[3], torque[3];
        for (int j = 0; j < 3; ++j) {
          ray[j] = n[j] + friction * (std::cos(side) * t1[j] + std::sin(side) * t2[j]);
        }
        kernels::cross3(x, ray, torque);
        for (int j = 0; j < 3; ++j) {
          matrix[static_cast<std::size_t>(j * kColumns + kSides * c + s)] = ray[j];
          matrix[static_cast<std::size_t>((3 + j) * kColumns + kSides * c + s)] = torque[j];
        }
      }
    }
    // The weight, one unit downwards, at (x, y): its torque is (-y, x, 0).
    matrix[4 * kColumns + 32] = 1.0;
    matrix[3 * kColumns + 33] = -1.0;
    set.matrix.insert(set.matrix.end(), matrix.begin(), matrix.end());
  }
  set.batch = make_batch(postures);
  for (int j = 0; j < kColumns; ++j) {
    set.lower.push_back(j < 32 ? 0.0 : -std::numeric_limits<double>::infinity());
    set.upper.push_back(std::numeric_limits<double>::infinity());
  }
  for (std::size_t k = 0; k < kDirections; ++k) {
    set.cost.resize(set.cost.size() + 32, 0.0);
    set.cost.push_back(-set.directions[2 * k]);
    set.cost.push_back(-set.directions[2 * k + 1]);
  }
  return set;
}

SpatialSettings inscribed() {
  SpatialSettings settings;
  settings.cones = ConeModel::inscribed;
  settings.cone_sides = kSides;
  settings.threads = 1;
  return settings;
}

/// Share of values that agree with the set's, where the solver claims them.
class Agreement {
 public:
  void add(bool claimed, double value, double expected) {
    const bool right = std::abs(value - expected) <= 1e-8;
    ++count_;
    claimed_ += claimed ? 1 : 0;
    solved_ += claimed && right ? 1 : 0;
    if (claimed && !(std::abs(value - expected) <= worst_)) worst_ = std::abs(value - expected);
  }
  [[nodiscard]] Verdict verdict() const {
    Verdict verdict;
    verdict.solved = solved_ / count_;
    verdict.claimed = claimed_ / count_;
    verdict.false_success = (claimed_ - solved_) / count_;
    verdict.worst_residual = worst_;
    return verdict;
  }

 private:
  double count_ = 0.0, claimed_ = 0.0, solved_ = 0.0, worst_ = 0.0;
};

/// Carom's own verdict: certified shares, and the largest distance of the two bounds where they
/// belong to one cone.
Verdict certified(const SupportResult& result, bool pair) {
  Agreement agreement;
  for (std::size_t i = 0; i < result.status.size(); ++i) {
    const double upper = result.upper.data()[i];
    agreement.add(result.status.data()[i] == Status::solved, pair ? upper : result.lower.data()[i],
                  upper);
  }
  return agreement.verdict();
}

void add_carom(const Shared<PostureSet>& set, const std::string& name, ConeModel cones, int count) {
  add(name, [set, cones, count](benchmark::State& state) {
    SpatialSettings settings = inscribed();
    settings.cones = cones;
    const PostureSet& all = set->get();
    const std::span<const double> directions(all.directions.data(),
                                             static_cast<std::size_t>(2 * count));
    const Verdict verdict =
        certified(support(all.batch, directions, settings, Backend::cpu), cones == ConeModel::pair);
    for (auto _ : state) {
      SupportResult result = support(all.batch, directions, settings, Backend::cpu);
      benchmark::DoNotOptimize(result.upper.data());
    }
    report(state, kPostures * count, kColumns, verdict);
  });
}

void add_regions(const Shared<PostureSet>& set, const std::string& name, ConeModel cones) {
  add(name, [set, cones](benchmark::State& state) {
    SpatialSettings settings = inscribed();
    settings.cones = cones;
    settings.directions = settings.max_vertices = kDirections;
    settings.area_tolerance = 1e9;
    const PostureSet& all = set->get();
    Agreement agreement;
    for (const SpatialRegion& region : spatial_equilibrium(all.batch, settings, Backend::cpu)) {
      agreement.add(region.status == Status::solved, 0.0, 0.0);
    }
    for (auto _ : state) {
      auto regions = spatial_equilibrium(all.batch, settings, Backend::cpu);
      benchmark::DoNotOptimize(regions.data());
    }
    report(state, kPostures * kDirections, kColumns, agreement.verdict());
  });
}

void add_peer(const Shared<PostureSet>& set, const LpPeerKind& kind, const std::string& name,
              bool cold) {
  add(name, [set, kind, cold](benchmark::State& state) {
    const PostureSet& all = set->get();
    std::vector<std::unique_ptr<LpPeer>> solvers;
    for (std::size_t p = 0; p < kPostures; ++p) {
      solvers.push_back(
          kind.load({kRows, kColumns, all.cost.data(), all.matrix.data() + p * kRows * kColumns,
                     all.bound.data(), all.bound.data(), all.lower.data(), all.upper.data()}));
    }
    const SupportResult expected = support(all.batch, all.directions, inscribed(), Backend::cpu);
    const auto sweep = [&](auto&& each) {
      for (std::size_t p = 0; p < kPostures; ++p) {
        for (std::size_t k = 0; k < kDirections; ++k) {
          const bool claimed = solvers[p]->solve(all.cost.data() + k * kColumns, cold);
          each(p, k, claimed);
        }
      }
    };
    Agreement agreement;
    sweep([&](std::size_t p, std::size_t k, bool claimed) {
      double x[kColumns], y[kRows];
      solvers[p]->answer(x, y);
      agreement.add(claimed, all.directions[2 * k] * x[32] + all.directions[2 * k + 1] * x[33],
                    expected.upper.data()[p * kDirections + k]);
    });
    for (auto _ : state) sweep([](std::size_t, std::size_t, bool) {});
    report(state, kPostures * kDirections, kColumns, agreement.verdict());
  });
}

}  // namespace

void add_equilibrium_benchmarks() {
  const auto set = share(four_contacts);
  add_carom(set, "equilibrium/support_cold/carom", ConeModel::inscribed, 1);
  add_carom(set, "equilibrium/support_warm/carom", ConeModel::inscribed, kDirections);
  add_carom(set, "equilibrium/support_warm/carom_pair", ConeModel::pair, kDirections);
  add_carom(set, "equilibrium/support_warm/carom_exact", ConeModel::exact, kDirections);
  add_regions(set, "equilibrium/regions_64/carom", ConeModel::inscribed);
  add_regions(set, "equilibrium/regions_64/carom_pair", ConeModel::pair);
  add_regions(set, "equilibrium/regions_64/carom_exact", ConeModel::exact);
  for (const LpPeerKind& kind : lp_peers()) {
    add_peer(set, kind, "equilibrium/support_cold/" + kind.name, true);
    add_peer(set, kind, "equilibrium/support_warm/" + kind.name, false);
  }
}

}  // namespace carom::bench
