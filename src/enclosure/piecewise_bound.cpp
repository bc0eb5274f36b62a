#include "enclosure/piecewise_bound.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

#include "core/parallel.hpp"
#include "enclosure/bounce_planes.hpp"
#include "enclosure/piecewise_form.hpp"

namespace carom::enclosure {

namespace {

constexpr const char* kPlanesWord = "carom-planes";
constexpr int kVersion = 1, kVersionWithStores = 3;
constexpr int kEarlierWithStores = 2;        // without planes besides
constexpr int kFormDirections = 4;           // of friction in space
constexpr std::int64_t kMostFaces = 60'000;  // cones up to which bounds take a minute

/// Arrangements that are tried in turn, the finest first, by the closeness that is asked for.
struct FormAttempt {
  int closeness;
  Refinement refinement;
  int planes;
  std::int64_t faces;
  bool bounces = false;  ///< bounce_planes besides
};
constexpr FormAttempt kStoreAttempts[] = {{1, Refinement::all, 8, 6'000},
                                          {1, Refinement::spread, 14, 6'000, true},
                                          {1, Refinement::ratios, 14, 6'000},
                                          {1, Refinement::pairs, 14, 6'000},
                                          {1, Refinement::none, 16, 20'000},
                                          {2, Refinement::finest, 22, 20'000, true},
                                          {2, Refinement::spread, 20, 20'000, true},
                                          {2, Refinement::all, 14, 20'000},
                                          {2, Refinement::ratios, 20, kMostFaces},
                                          {2, Refinement::pairs, 20, kMostFaces},
                                          {2, Refinement::none, kMostPlanes, kMostFaces}};
constexpr FormAttempt kInelasticAttempts[] = {{1, Refinement::pairs, 14, 6'000},
                                              {1, Refinement::none, 16, 20'000},
                                              {2, Refinement::events, 16, 20'000},
                                              {2, Refinement::pairs, 20, kMostFaces},
                                              {2, Refinement::none, kMostPlanes, kMostFaces}};

struct RowForm {
  BoundedRow bounded;
  PiecewiseForm form;
};

/// Both sides of every contact velocity; the least normal ones, 0 at least, only where contacts
/// have stores, which lift them. Of those that make a question's half-space reachable, if there is
/// one.
std::vector<BoundedRow> bounded_rows(const ImpactProblem& problem, bool stores,
                                     const ImpactEvent* question) {
  std::vector<BoundedRow> rows;
  const auto normals = static_cast<std::size_t>(problem.contacts);
  const auto all = normals * static_cast<std::size_t>(problem.dimension);
  const auto add = [&](std::size_t row, int sign) {
    const bool asked = question == nullptr ||
                       (!question->direction.empty() && sign * question->direction[row] > 0.0);
    if (asked) rows.push_back({row, sign, sign < 0 && row < normals});
  };
  for (std::size_t k = 0; k < all; ++k) {
    add(k, 1);
    if (k >= normals || stores) add(k, -1);
  }
  return rows;
}

void lower(const Arrangement& arrangement, const RowForm& given, ImpactEnclosure& enclosure) {
  const std::size_t row = given.bounded.row;
  const std::size_t normals = enclosure.normal_velocity_max.size();
  const double bound = bound_of(arrangement, given.form, given.bounded);
  const auto own = [&](std::vector<double>& normal, std::vector<double>& tangent) -> double& {
    return row < normals ? normal[row] : tangent[row - normals];
  };
  if (given.bounded.sign > 0) {
    double& most = own(enclosure.normal_velocity_max, enclosure.tangent_velocity_max);
    most = std::min(most, bound);
  } else {
    double& least = own(enclosure.normal_velocity_min, enclosure.tangent_velocity_min);
    least = std::max(least, given.bounded.least ? bound : -bound);
  }
}

std::string text_of(const ArrangementLimits& limits, bool stores,
                    const std::vector<RowForm>& forms) {
  std::ostringstream out;
  out << kPlanesWord << ' ' << (stores ? kVersionWithStores : kVersion) << ' '
      << static_cast<int>(limits.refinement);
  if (stores) {
    out << ' ' << limits.between.size();
    for (const auto& [first, second, share] : limits.between) {
      out << ' ' << first << ' ' << second << ' ' << share;
    }
  }
  out << ' ' << forms.size() << '\n';
  for (const auto& [bounded, form] : forms) {
    out << bounded.row << ' ' << bounded.sign << ' ' << form.gamma << ' ' << form.alpha << ' '
        << form.beta;
    for (const std::int64_t store : form.stores) out << ' ' << store;
    out << ' ' << form.entries.size();
    for (const std::int64_t entry : form.entries) out << ' ' << entry;
    out << '\n';
  }
  return out.str();
}

struct Read {
  ArrangementLimits limits{Refinement::none, kMostPlanes, kMostFaces, {}};
  std::vector<RowForm> forms;
};

bool read_between(std::istream& in, const ImpactProblem& problem,
                  std::vector<PlaneBetween>& planes) {
  std::size_t count = 0;
  if (!(in >> count) || count > kMostPlanes) return false;
  planes.resize(count);
  return std::all_of(planes.begin(), planes.end(), [&](PlaneBetween& plane) {
    const auto is_contact = [&](int i) { return i >= 0 && i < problem.contacts; };
    return in >> plane.first >> plane.second >> plane.share && is_contact(plane.first) &&
           is_contact(plane.second);
  });
}

/// stores: of a form.
std::optional<Read> read_forms(const std::string& text, const ImpactProblem& problem,
                               std::size_t stores) {
  std::istringstream in(text);
  std::string word;
  int version = 0, refinement = 0;
  std::size_t count = 0;
  Read read;
  if (!(in >> word >> version >> refinement) || word != kPlanesWord ||
      version < (stores > 0 ? kEarlierWithStores : kVersion) ||
      version > (stores > 0 ? kVersionWithStores : kVersion) || refinement < 0 ||
      refinement > static_cast<int>(Refinement::finest) ||
      (version == kVersionWithStores && !read_between(in, problem, read.limits.between)) ||
      !(in >> count) || count > bounded_rows(problem, stores > 0, nullptr).size()) {
    return std::nullopt;
  }
  read.limits.refinement = static_cast<Refinement>(refinement);
  read.forms.resize(count);
  const FormEntries most(kMostPlanes);
  const std::size_t rows = problem.friction.size() * static_cast<std::size_t>(problem.dimension);
  for (auto& [bounded, form] : read.forms) {
    std::size_t entries = 0;
    in >> bounded.row >> bounded.sign >> form.gamma >> form.alpha >> form.beta;
    form.stores.resize(stores);
    for (std::int64_t& store : form.stores) in >> store;
    if (!(in >> entries) || bounded.row >= rows || (bounded.sign != 1 && bounded.sign != -1) ||
        entries > most.count()) {
      return std::nullopt;
    }
    bounded.least = stores > 0 && bounded.sign < 0 && bounded.row < problem.friction.size();
    form.entries.resize(entries);
    for (std::int64_t& entry : form.entries) {
      if (!(in >> entry)) return std::nullopt;
    }
  }
  return in >> word ? std::nullopt : std::optional(std::move(read));
}

}  // namespace

void tighten(const ImpactProblem& problem, const EnclosureSettings& settings,
             const ImpactEvent* question, ImpactEnclosure& enclosure) {
  const std::vector<double> stored = stored_shares(problem, enclosure.law);
  const std::vector<double> least_stored = least_stored_shares(problem, enclosure.law);
  const bool lifts = !stored.empty() && !least_stored.empty();
  const std::vector<BoundedRow> rows = bounded_rows(problem, lifts, question);
  if (rows.empty() || settings.closeness == 0 ||
      (problem.dimension == 3 && settings.friction_directions != kFormDirections)) {
    return;
  }
  std::optional<RoundedImpact> impact = round_impact(problem);
  if (!impact) return;
  impact->stored = stored;
  if (lifts) impact->least_stored = least_stored;
  std::optional<Arrangement> arrangement;
  ArrangementLimits limits;
  const std::span<const FormAttempt> attempts =
      impact->stored.empty() ? std::span<const FormAttempt>(kInelasticAttempts) : kStoreAttempts;
  for (const FormAttempt& attempt : attempts) {
    if (attempt.closeness != settings.closeness || arrangement) continue;
    if (attempt.bounces && !lifts) continue;  // costs more than it gives
    limits = {attempt.refinement, attempt.planes, attempt.faces, {}};
    if (attempt.bounces) limits.between = bounce_planes(*impact);
    arrangement = arrange(*impact, limits);
  }
  if (!arrangement) return;
  FormSearch search(*arrangement);
  std::vector<std::optional<PiecewiseForm>> found(rows.size());
  found.front() = search.first_closest(rows.front());
  parallel_for_each(static_cast<std::int64_t>(rows.size()) - 1, settings.threads,
                    [&](std::int64_t i) {
                      const auto at = static_cast<std::size_t>(i) + 1;
                      found[at] = search.closest(rows[at]);
                    });
  std::vector<RowForm> forms;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!found[i]) continue;
    forms.push_back({rows[i], std::move(*found[i])});
    lower(*arrangement, forms.back(), enclosure);
  }
  if (!forms.empty()) enclosure.invariant += text_of(limits, !stored.empty(), forms);
}

std::size_t planes_at(const std::string& text) {
  return std::min(text.find(kPlanesWord), text.size());
}

bool tighten_by(const ImpactProblem& problem, const std::string& text, ImpactEnclosure& enclosure) {
  if (text.empty()) return true;
  std::optional<RoundedImpact> impact = round_impact(problem);
  if (!impact) return false;
  impact->stored = stored_shares(problem, enclosure.law);
  if (!impact->stored.empty()) {
    impact->least_stored = least_stored_shares(problem, enclosure.law);
  }
  const std::optional<Read> read = read_forms(text, problem, impact->stored.size());
  if (!read) return false;
  const std::optional<Arrangement> arrangement = arrange(*impact, read->limits);
  if (!arrangement) return false;
  for (const RowForm& each : read->forms) {
    if (!is_bound(*arrangement, each.form, each.bounded)) return false;
    lower(*arrangement, each, enclosure);
  }
  return true;
}

}  // namespace carom::enclosure
