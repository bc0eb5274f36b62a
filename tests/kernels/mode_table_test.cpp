#include "impact/mode_table.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <carom/device/lanes.hpp>
#include <carom/impact.hpp>

#include "core/random.hpp"
#include "cpu/impact/impact_driver.hpp"
#include "cpu/simd/dispatch.hpp"
#include "impact/mode_entry.hpp"
#include "impact/prepare.hpp"
#include "support/bits.hpp"
#include "support/model_runs.hpp"

// Tables of modes: what their entries claim, which one is taken, and by whom.
namespace carom {
namespace {

ModeTable make_table(int dimension, const kernels::ImpactProblemView& view,
                     const kernels::ImpactRun& run) {
  ModeTable table;
  ModeTableBuilder(host_pilot_code()).build(dimension, view, run, table);
  return table;
}

class ModeTables : public test::ModelTest {
 protected:
  ModeTables()
      : batch_(test::model_batch(GetParam())),
        settings_(test::model_settings(GetParam(), 2048)),
        prepared_(batch_, settings_),
        run_(impact_run(batch_, settings_, {})),
        view_(prepared_.view(0)),
        m_(batch_.contacts),
        rows_(batch_.contact_rows()),
        columns_(rows_ + m_) {}

  /// The first step of pilot `sample`.
  [[nodiscard]] std::vector<double> step(std::uint64_t sample) const {
    std::vector<double> z(view_.contact_velocity, view_.contact_velocity + rows_);
    for (int i = 0; i < m_; ++i) {
      z.push_back(settings_.step_size * uniform(31, 0, sample, static_cast<std::uint32_t>(i)));
    }
    return z;
  }

  /// Natural residual of (75), by the certificate's code.
  [[nodiscard]] double residual(const std::vector<double>& z,
                                const std::vector<double>& impulse) const {
    std::vector<double> delassus(view_.delassus, view_.delassus + rows_ * rows_);
    const auto scale = [&](int row) {
      return view_.scale[row < m_ ? row : (row - m_) / (batch_.dimension - 1)];
    };
    for (int i = 0; i < rows_; ++i) {
      for (int j = 0; j < rows_; ++j) {
        delassus[static_cast<std::size_t>(i * rows_ + j)] /= scale(i) * scale(j);
      }
    }
    std::vector<double> next(static_cast<std::size_t>(rows_));
    const double* const u = z.data();
    const auto of = [&](auto dimension) {
      return certificate::step_residual<dimension()>(run_.polygon, m_, delassus.data(), view_.scale,
                                                     u, view_.friction, u + rows_, impulse.data(),
                                                     next.data());
    };
    return batch_.dimension == 2 ? of(std::integral_constant<int, 2>{})
                                 : of(std::integral_constant<int, 3>{});
  }

  const ImpactBatch batch_;
  const ImpactSettings settings_;
  const PreparedImpacts prepared_;
  const kernels::ImpactRun run_;
  const kernels::ImpactProblemView view_;
  const int m_;
  const int rows_;
  const int columns_;
};

INSTANTIATE_TEST_SUITE_P(Models, ModeTables, ::testing::ValuesIn(test::model_names()),
                         test::model_name);

TEST_P(ModeTables, AnswersAreSolutions) {
  const ModeTable table = make_table(batch_.dimension, view_, run_);
  std::vector<double> impulse(static_cast<std::size_t>(rows_));
  int found = 0;
  for (std::uint64_t sample = 0; sample < 500; ++sample) {
    const std::vector<double> z = step(sample);
    if (!kernels::find_mode<double>(table.view(), rows_, m_, z.data(), impulse.data())) continue;
    ++found;
    ASSERT_LE(residual(z, impulse), 1e-11) << sample;
  }
  EXPECT_GT(found, 300);
}

// An entry whose conditions hold solves the step, and there are entries that do not.
TEST_P(ModeTables, ConditionsTellSolutionsFromOthers) {
  const ModeTable table = make_table(batch_.dimension, view_, run_);
  const kernels::ModeTableView view = table.view();
  std::vector<double> impulse(static_cast<std::size_t>(rows_));
  long wrong = 0;
  for (std::uint64_t sample = 0; sample < 50; ++sample) {
    const std::vector<double> z = step(sample);
    const double lowest = kernels::mode_floor(columns_, z.data());
    for (int entry = 0; entry < view.count; ++entry) {
      bool holds = kernels::mode_passes(
          view.screens(columns_) + entry * kernels::mode_screens(columns_) * columns_, columns_,
          z.data(), lowest);
      for (int c = view.first[entry]; c < view.first[entry + 1]; ++c) {
        holds = holds && kernels::mode_row(view.rest(rows_, columns_) + c * columns_, columns_,
                                           z.data()) >= lowest;
      }
      const double* map = view.maps(columns_) + entry * rows_ * columns_;
      for (int i = 0; i < rows_; ++i) {
        impulse[static_cast<std::size_t>(i)] =
            kernels::mode_row(map + i * columns_, columns_, z.data());
      }
      const double r = residual(z, impulse);
      if (holds) {
        ASSERT_LE(r, 1e-11) << "sample " << sample << " entry " << entry;
      } else {
        wrong += r > 1e-9 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(wrong, 0);
}

TEST_P(ModeTables, LanesThatShareTheEntriesFindTheSame) {
  const ModeTable table = make_table(batch_.dimension, view_, run_);
  const auto rows = static_cast<std::size_t>(rows_);
  for (std::uint64_t sample = 0; sample < 200; ++sample) {
    const std::vector<double> z = step(sample);
    std::vector<double> one(rows), forwards(rows), backwards(rows);
    const bool found = kernels::find_mode<double>(table.view(), rows_, m_, z.data(), one.data());
    const kernels::EmulatedLanes<32, false> there;
    const kernels::EmulatedLanes<32, true> back;
    ASSERT_EQ(found,
              kernels::find_mode_by(there, table.view(), rows_, m_, z.data(), forwards.data()));
    ASSERT_EQ(found,
              kernels::find_mode_by(back, table.view(), rows_, m_, z.data(), backwards.data()));
    if (!found) continue;
    ASSERT_EQ(one, forwards);
    ASSERT_EQ(one, backwards);
  }
}

// Packs of this machine's registers against one sample at a time with plain instructions.
TEST_P(ModeTables, PacksAndSingleSamplesAgreeBitForBit) {
  ImpactSettings settings = settings_;
  settings.epsilon = 0.05;
  const auto native = cpu::simd::instruction_set().run_block;
  const auto plain = cpu::simd::instruction_sets().front()->run_block;
  const auto run = [&](bool packs, void (*block)(const cpu::simd::BlockJob&)) {
    return batch_.dimension == 2 ? cpu::drive_impacts<2>(batch_, settings, packs, block)
                                 : cpu::drive_impacts<3>(batch_, settings, packs, block);
  };
  const ImpactResult packed = run(true, native);
  test::expect_identical(packed, run(false, native));
  test::expect_identical(packed, run(true, plain));
  // Sobol points share their last bits, which the draw among solutions must not mind.
  settings.sampler = Sampler::sobol;
  test::expect_identical(run(true, native), run(false, plain));
}

TEST(ModeTable, WideOnesKnowMoreModes) {
  const ImpactBatch batch = test::model_batch("cube_drop");
  const ImpactSettings settings = test::model_settings("cube_drop", 1);
  const PreparedImpacts prepared(batch, settings);
  const kernels::ImpactRun run = impact_run(batch, settings, {});
  ModeTableBuilder builder(host_pilot_code());
  ModeTable table;
  builder.build(3, prepared.view(0), run, table);
  const int narrow = table.view().count;
  builder.build(3, prepared.view(0), run, table, TableBreadth::wide);
  EXPECT_GT(table.view().count, narrow);
}

TEST(ModeTable, OneContactHasTheTextbooksAnswer) {
  // Unit mass, mu = 0.5, falling and sliding: closed or full, sliding back.
  ImpactProblem problem;
  problem.dimension = 2;
  problem.velocities = 2;
  problem.contacts = 1;
  problem.mass_matrix = {1.0, 0.0, 0.0, 1.0};
  problem.normal_jacobian = {0.0, 1.0};
  problem.tangent_jacobian = {1.0, 0.0};
  problem.friction = {0.5};
  problem.velocity = {3.0, -1.0};
  const ImpactBatch batch = make_batch({&problem, 1});
  const ImpactSettings settings;
  const PreparedImpacts prepared(batch, settings);
  const kernels::ImpactRun run = impact_run(batch, settings, {});
  const kernels::ImpactProblemView view = prepared.view(0);
  const ModeTable table = make_table(2, view, run);
  EXPECT_FALSE(table.view().mixed);
  double impulse[2];
  const double full[3] = {-1.0, 3.0, 0.25};
  ASSERT_TRUE(kernels::find_mode<double>(table.view(), 2, 1, full, impulse));
  EXPECT_NEAR(impulse[0], 0.25, 1e-15);
  EXPECT_NEAR(impulse[1], -0.125, 1e-15);
  const double closed[3] = {-1.0, -3.0, 2.0};
  ASSERT_TRUE(kernels::find_mode<double>(table.view(), 2, 1, closed, impulse));
  EXPECT_NEAR(impulse[0], 1.0, 1e-15);
  EXPECT_NEAR(impulse[1], 0.5, 1e-15);
  const double sticking[3] = {-1.0, 0.25, 2.0};
  ASSERT_TRUE(kernels::find_mode<double>(table.view(), 2, 1, sticking, impulse));
  EXPECT_NEAR(impulse[0], 1.0, 1e-15);
  EXPECT_NEAR(impulse[1], -0.25, 1e-15);
  const double broken[3] = {-1.0, std::nan(""), 2.0};
  EXPECT_FALSE(kernels::find_mode<double>(table.view(), 2, 1, broken, impulse));
}

// Where steps have several v', the table's draw spreads the samples as drawing among all does.
TEST(ModeTable, SpreadsOverSeveralSolutionsAsRandomSelectionDoes) {
  for (const char* name : {"compass_gait", "ramone"}) {
    const ImpactBatch batch = test::model_batch(name);
    ImpactSettings settings = test::model_settings(name, 1 << 14);
    settings.epsilon = 0.05;
    const ImpactResult table = sample_impacts(batch, settings, Backend::cpu);
    settings.sampler = Sampler::sobol;
    const ImpactResult sobol = sample_impacts(batch, settings, Backend::cpu);
    settings.sampler = Sampler::uniform;
    settings.selection = Selection::random;
    const ImpactResult random = sample_impacts(batch, settings, Backend::cpu);
    EXPECT_EQ(table.summary[0].fallback_solves, 0);
    const auto share = [](const ImpactResult& result, std::uint64_t modes) {
      const ImpactSummary& summary = result.summary[0];
      for (const auto& [key, count] : summary.mode_counts) {
        if (key == modes) {
          return static_cast<double>(count) / static_cast<double>(summary.samples);
        }
      }
      return 0.0;
    };
    for (const auto& [modes, count] : random.summary[0].mode_counts) {
      EXPECT_NEAR(share(table, modes), share(random, modes), 0.03) << name << " " << modes;
      EXPECT_NEAR(share(sobol, modes), share(random, modes), 0.03) << name << " " << modes;
    }
    const auto points = static_cast<double>(random.net[0].points());
    EXPECT_GE(static_cast<double>(table.net[0].points()), 0.9 * points) << name;
    for (std::size_t i = 0; i < random.summary[0].normal_velocity_max.size(); ++i) {
      EXPECT_NEAR(table.summary[0].normal_velocity_max[i], random.summary[0].normal_velocity_max[i],
                  0.02)
          << name;
    }
  }
}

}  // namespace
}  // namespace carom
