#include <cstdlib>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include <gtest/gtest.h>

#include <carom/boxed_lcp.hpp>
#include <carom/carom.hpp>
#include <carom/coulomb.hpp>
#include <carom/equilibrium_three_contacts.hpp>
#include <carom/impact_models.hpp>
#include <carom/lcp.hpp>
#include <carom/lcp_decision.hpp>
#include <carom/lp.hpp>
#include <carom/motion.hpp>
#include <carom/sdp.hpp>

#include "core/settings.hpp"
#include "support/folders.hpp"
#include "support/message.hpp"

namespace carom {
namespace {

/// Calls visit(struct's name, what it is for, a default one) for every struct of settings.
template <class Visit>
void each_struct(Visit&& visit) {
  visit("ImpactSettings", "`sample_impacts`", ImpactSettings{});
  visit("StepSettings", "`solve_steps`", StepSettings{});
  visit("ImpactModelSettings", "other impact models, one problem at a time", ImpactModelSettings{});
  visit("PlanarSettings", "`planar_equilibrium`, `planar_margins`", PlanarSettings{});
  visit("SpatialSettings", "`spatial_equilibrium`, `support`", SpatialSettings{});
  visit("ThreeContactSettings", "`three_contact_region`", ThreeContactSettings{});
  visit("EnclosureSettings", "`enclose_impacts`, `enclose_impact`", EnclosureSettings{});
  visit("StabilitySettings", "`analyse_stability`", StabilitySettings{});
  visit("MotionSettings", "`simulate_motions`", MotionSettings{});
  visit("CompliantSettings", "`solve_compliant`, `step_worlds`", CompliantSettings{});
  visit("WorldRun", "worlds of `step_worlds`", WorldRun{});
  visit("DerivativeSettings", "`differentiate_*` and `propagate_*`", DerivativeSettings{});
  visit("LcpSettings", "`solve_lcp`", LcpSettings{});
  visit("BoxedLcpSettings", "`solve_boxed_lcp`", BoxedLcpSettings{});
  visit("LcpDecisionSettings", "`decide_lcp`", LcpDecisionSettings{});
  visit("LpSettings", "`solve_lp`", LpSettings{});
  visit("QpSettings", "`solve_qp`", QpSettings{});
  visit("SdpSettings", "`solve_sdps`", SdpSettings{});
  visit("CoulombSettings", "`solve_coulomb`", CoulombSettings{});
}

template <class Value>
std::string values_of(const SettingRange& range) {
  if constexpr (std::is_enum_v<Value>) {
    return listed<Value>(", ");
  } else if constexpr (std::same_as<Value, bool>) {
    return "yes, no";
  } else if constexpr (std::unsigned_integral<Value>) {
    return "any";
  } else {
    return settings::words_of(range, std::integral<Value>);
  }
}

/// A bar would begin a column.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

std::string page() {
  std::ostringstream text;
  text << "# Settings\n\n"
          "The fields of every settings struct. Python takes them as keywords, the command as "
          "options "
          "with hyphens.\n`validate()` and the options come from the same lists in "
          "`include/carom`.\n";
  each_struct([&](const char* name, const char* what_for, const auto& defaults) {
    text << "\n## " << name << "\n\nFor " << what_for
         << ".\n\n| setting | default | values | |\n|---|---|---|---|\n";
    defaults.each_setting(
        [&](const Setting& setting, const auto& value) {
          using Value = std::remove_cvref_t<decltype(value)>;
          text << "| `" << setting.name << "` | " << settings::text_of(value) << " | "
               << values_of<Value>(setting.range) << " | " << escaped(setting.help);
          if (*setting.unit != '\0') text << " [" << setting.unit << "]";
          if (*setting.zero != '\0') text << "; 0: " << setting.zero;
          text << " |\n";
        },
        defaults);
  });
  return text.str();
}

TEST(Settings, DocumentIsWhatTheListsSay) {
  const std::string file = (test::repository() / "docs/reference/settings.md").string();
  if (std::getenv("CAROM_RENEW") != nullptr) std::ofstream(file) << page();
  std::ifstream stream(file);
  std::ostringstream committed;
  committed << stream.rdbuf();
  EXPECT_EQ(committed.str(), page())
      << "renew it: CAROM_RENEW=1 test_api --gtest_filter=Settings.Document*";
}

// Every default is accepted, and every number with a range is refused outside of it, by name.
TEST(Settings, RangesHold) {
  each_struct([](const char* of, const char*, const auto& defaults) {
    EXPECT_NO_THROW(require::settings(defaults)) << of;
    std::set<std::string> names;
    auto changed = defaults;
    changed.each_setting(
        [&](const Setting& setting, auto& value, const auto& usual) {
          EXPECT_TRUE(names.insert(setting.name).second) << of << "::" << setting.name;
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::floating_point<Value> || std::signed_integral<Value>) {
            const auto refused = [&](Value bad) {
              value = bad;
              const std::string message = test::refusal([&] { require::settings(changed); });
              EXPECT_EQ(message.find(std::string(setting.name) + " is "), 0U) << message;
              value = usual;
            };
            refused(static_cast<Value>(setting.range.least - 1));
            if constexpr (std::floating_point<Value>) {
              refused(std::numeric_limits<Value>::quiet_NaN());
              if (setting.range.open_least) refused(setting.range.least);
            }
            if (setting.range.most < 1e15) refused(static_cast<Value>(setting.range.most + 1));
          }
        },
        changed, defaults);
  });
}

TEST(Settings, RangesInWords) {
  using Range = SettingRange;
  const auto words = &settings::words_of;
  EXPECT_EQ(words(Range::at_least(-1), true), ">= -1");
  EXPECT_EQ(words(Range::between(1, 1 << 30), true), "in 1..2^30");
  EXPECT_EQ(words(Range::between(4, 16), true), "in 4..16");
  EXPECT_EQ(words(Range::above(0), false), "positive and finite");
  EXPECT_EQ(words(Range::above(1), false), "above 1 and finite");
  EXPECT_EQ(words(Range::finite_from(0), false), ">= 0 and finite");
  EXPECT_EQ(words(Range::inside(0, 2), false), "in (0, 2)");
  EXPECT_EQ(words(Range::tolerance(), false), "in (0, 1e-3]");
}

TEST(Settings, NumbersAsHelpShowsThem) {
  EXPECT_EQ(settings::text_of(1e-9), "1e-9");
  EXPECT_EQ(settings::text_of(1.6), "1.6");
  EXPECT_EQ(settings::text_of(0.0), "0");
  EXPECT_EQ(settings::text_of(-0.25), "-0.25");
  EXPECT_EQ(settings::text_of(2e300), "2e300");
  EXPECT_EQ(settings::text_of(1024), "1024");
  EXPECT_EQ(settings::text_of(1 << 14), "2^14");
  EXPECT_EQ(settings::text_of(std::int64_t{1} << 40), "2^40");
  EXPECT_EQ(settings::text_of(20000), "20000");
  EXPECT_EQ(settings::text_of(Selection::any), "any");
}

}  // namespace
}  // namespace carom
