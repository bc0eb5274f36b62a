#include "enclosure/piecewise_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "enclosure/normal_rates.hpp"

namespace carom::enclosure {

namespace {

using Eigen::VectorXd;

constexpr double kLargestFormEntry = 32.0;
constexpr double kFormMargin = 1e-8;      // by which conditions hold, for the rounding of entries
constexpr double kLeastMargin = 1e-4;     // of all conditions at once, that a search needs
constexpr double kTolerance = 1e-6;       // of a program
constexpr double kRoughTolerance = 1e-3;  // while conditions are still met
constexpr double kActive = 1e-6, kNear = 0.05;  // multipliers and slacks of rows that are kept
constexpr std::size_t kManyRows = 12;           // times the unknowns: then some leave
constexpr int kMostRounds = 60;
constexpr double kFormTrust = 0x1p-44;    // of the magnitudes in a sum of doubles
constexpr double kStoreTrust = 0x1p-38;   // of a store's rate, and of velocities in it
constexpr double kEnergyTrust = 0x1p-40;  // of the doubts in a product of two directions

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

VectorXd parts(const Direction& direction) {
  VectorXd y(static_cast<Eigen::Index>(2 * direction.part.size()));
  for (std::size_t k = 0; k < direction.part.size(); ++k) {
    y(static_cast<Eigen::Index>(2 * k)) = std::max(direction.part[k], 0.0);
    y(static_cast<Eigen::Index>(2 * k + 1)) = std::max(-direction.part[k], 0.0);
  }
  return y;
}

/// visit(part, rate) for the parts that change along a descent's motion.
template <class Visit>
void each_rate(const Descent& descent, const Direction& motion, Visit&& visit) {
  for (std::size_t k = 0; k < motion.part.size(); ++k) {
    if ((descent.above >> k & 1) != 0) visit(2 * k, motion.part[k]);
    if ((descent.below >> k & 1) != 0) visit(2 * k + 1, -motion.part[k]);
  }
}

/// visit(i, most, least) for the stores that change along a descent's motion: rates of half
/// E_i / K before. A store takes its share of the work of compression, and gives back all of what
/// a push takes that separates.
template <class Visit>
void each_store(const Arrangement& all, const Direction& corner, const Direction& motion,
                Visit&& visit) {
  for (std::size_t i = 0; i < all.stored.size(); ++i) {
    const double part = corner.part[i];
    if (part == 0.0 || motion.impulse[i] == 0.0) continue;
    const double speed = std::abs(product(all.row[i], corner.energy)) * all.length[i];
    const double work = speed * motion.impulse[i];
    const double least = all.least_stored.empty() ? 0.0 : all.least_stored[i];
    visit(i, part < 0.0 ? all.stored[i] * work : -work, part < 0.0 ? least * work : -work);
  }
}

double in_doubles(std::int64_t value) { return std::ldexp(static_cast<double>(value), -kFormBits); }

/// The symmetric matrix of entries, entry(place) each.
template <class Entry>
Eigen::MatrixXd matrix_of(const FormEntries& entries, const Entry& entry) {
  const auto size = static_cast<Eigen::Index>(entries.parts());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
  entries.each([&](std::size_t a, std::size_t b, std::size_t place) {
    const auto i = static_cast<Eigen::Index>(a), j = static_cast<Eigen::Index>(b);
    matrix(i, j) = matrix(j, i) = entry(place);
  });
  return matrix;
}

Eigen::MatrixXd matrix_of(const FormEntries& entries, const PiecewiseForm& form) {
  return matrix_of(entries, [&](std::size_t place) { return in_doubles(form.entries[place]); });
}

/// Velocity of a row at a direction, at most.
double velocity_at(const Arrangement& all, const BoundedRow& bounded, const Direction& at) {
  return (bounded.least ? 1 : bounded.sign) * product(all.row[bounded.row], at.energy);
}

/// Of the bounded velocity's square, what V has at least where nothing approaches.
double share_of(bool least, double alpha) { return least ? -1.0 : 1.0 - alpha; }

}  // namespace

FormEntries::FormEntries(int planes)
    : parts_(2 * static_cast<std::size_t>(planes)), place_(parts_ * parts_) {
  for (std::size_t a = 0; a < parts_; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      if (a / 2 == b / 2 && a != b) continue;
      place_[a * parts_ + b] = place_[b * parts_ + a] = count_++;
    }
  }
}

bool is_bound(const Arrangement& all, const PiecewiseForm& form, const BoundedRow& bounded) {
  const FormEntries entries(all.planes);
  const auto is_small = [](std::int64_t x) { return std::abs(x) < std::int64_t{1} << 52; };
  const std::int64_t whole = std::int64_t{1} << kFormBits;
  if (form.entries.size() != entries.count() ||
      !std::all_of(form.entries.begin(), form.entries.end(), is_small) ||
      (form.gamma < 0 && !bounded.least) || !is_small(form.gamma) || form.beta < 0 ||
      !is_small(form.beta) || form.alpha < 0 || form.alpha > whole ||
      form.stores.size() != all.stored.size() ||
      !std::all_of(form.stores.begin(), form.stores.end(), [&](std::int64_t x) {
        return (x >= 0 || !all.least_stored.empty()) && is_small(x);
      })) {
    return false;
  }
  const Eigen::MatrixXd matrix = matrix_of(entries, form);
  const Eigen::MatrixXd sizes = matrix.cwiseAbs();
  std::vector<VectorXd> part, change, largest;
  for (const Direction& corner : all.corners) {
    part.push_back(parts(corner));
    change.push_back(matrix * part.back());
    largest.push_back(sizes * part.back());
  }
  const double gamma = in_doubles(form.gamma);
  for (const Descent& descent : all.descents) {
    const Direction& corner = all.corners[descent.corner];
    const Direction& motion = all.motions[descent.motion];
    double sum = gamma * product(corner.energy, motion.energy);
    double size = 0.0;
    each_rate(descent, motion, [&](std::size_t part_of, double rate) {
      const auto at = static_cast<Eigen::Index>(part_of);
      sum += change[descent.corner](at) * rate;
      size += largest[descent.corner](at) * std::abs(rate);
    });
    each_store(all, corner, motion, [&](std::size_t i, double most, double least) {
      const double share = in_doubles(form.stores[i]);
      sum += share * (share > 0.0 ? most : least);
      size += kStoreTrust / kFormTrust * std::abs(share) * motion.impulse[i] * all.length[i] *
              corner.doubt;
    });
    const double energy_doubt = std::abs(gamma) * kEnergyTrust * corner.doubt * motion.doubt;
    if (!(sum + kFormTrust * size + energy_doubt <= 0.0)) return false;
  }
  const double alpha = in_doubles(form.alpha), rest = gamma - alpha - in_doubles(form.beta);
  for (const auto& [i, j] : all.outcomes) {
    const Direction& first = all.corners[i];
    const Direction& second = all.corners[j];
    const double doubt = kEnergyTrust * first.doubt * second.doubt;
    const double rounding = bounded.least ? -kEnergyTrust : kEnergyTrust;
    const double wanted =
        share_of(bounded.least, alpha) *
        std::max(velocity_at(all, bounded, first) + rounding * first.doubt, 0.0) *
        std::max(velocity_at(all, bounded, second) + rounding * second.doubt, 0.0);
    const double has = rest * product(first.energy, second.energy) - std::abs(rest) * doubt +
                       part[i].dot(change[j]) - kFormTrust * part[i].dot(largest[j]);
    if (!(has >= wanted + kFormTrust * std::abs(wanted))) return false;
  }
  return true;
}

double bound_of(const Arrangement& all, const PiecewiseForm& form, const BoundedRow& bounded) {
  const FormEntries entries(all.planes);
  const Eigen::MatrixXd matrix = matrix_of(entries, form);
  const VectorXd y = parts(all.start);
  const double before = in_doubles(form.gamma) + y.dot(matrix * y);
  const double size = std::abs(in_doubles(form.gamma)) + y.dot(matrix.cwiseAbs() * y);
  const double most = before + kFormTrust * size;
  const double speed = std::sqrt(std::max(bounded.least ? -most : most, 0.0));
  constexpr double kRounded = 1e-12;
  return speed * all.length[bounded.row] * all.speed *
         (bounded.least ? 1.0 - kRounded : 1.0 + kRounded);
}

template <class Visit>
void FormSearch::each_stored(const Descent& descent, Visit&& visit) const {
  each_store(all_, all_.corners[descent.corner], all_.motions[descent.motion],
             [&](std::size_t i, double most, double least) {
               visit(store(i), most);
               if (!all_.least_stored.empty()) visit(owed(i), -least);
             });
}

struct FormSearch::Met {
  double by;
  std::size_t condition;
};

FormSearch::FormSearch(const Arrangement& arrangement)
    : all_(arrangement), entries_(arrangement.planes) {
  const auto energies = static_cast<Eigen::Index>(all_.start.energy.size());
  const auto columns = [&](const std::vector<Direction>& directions) {
    Eigen::MatrixXd result(energies, static_cast<Eigen::Index>(directions.size()));
    for (std::size_t i = 0; i < directions.size(); ++i) {
      result.col(static_cast<Eigen::Index>(i)) =
          Eigen::Map<const VectorXd>(directions[i].energy.data(), energies);
    }
    return result;
  };
  const Eigen::MatrixXd corner_energy = columns(all_.corners);
  const Eigen::MatrixXd motion_energy = columns(all_.motions);
  corner_parts_.resize(static_cast<Eigen::Index>(entries_.parts()),
                       static_cast<Eigen::Index>(all_.corners.size()));
  for (std::size_t i = 0; i < all_.corners.size(); ++i) {
    corner_parts_.col(static_cast<Eigen::Index>(i)) = parts(all_.corners[i]);
  }
  for (const Descent& descent : all_.descents) {
    double fastest = 0.0;
    each_rate(descent, all_.motions[descent.motion],
              [&](std::size_t, double rate) { fastest = std::max(fastest, std::abs(rate)); });
    const double most = corner_parts_.col(descent.corner).maxCoeff() * fastest;
    const double energy = corner_energy.col(descent.corner).dot(motion_energy.col(descent.motion));
    double stored = 0.0;
    each_stored(descent,
                [&](Eigen::Index, double rate) { stored = std::max(stored, std::abs(rate)); });
    descent_energy_.push_back(energy);
    descent_scale_.push_back(std::max({most, std::abs(energy), stored, 1e-12}));
  }
  for (const auto& [i, j] : all_.outcomes) {
    const double most = corner_parts_.col(i).maxCoeff() * corner_parts_.col(j).maxCoeff();
    const double energy = corner_energy.col(i).dot(corner_energy.col(j));
    outcome_energy_.push_back(energy);
    outcome_scale_.push_back(std::max(most, std::abs(energy)));
  }
  // The form that all conditions leave the most of.
  const auto n = static_cast<Eigen::Index>(gamma() + 4);
  InnerProgram program;
  program.cost = VectorXd::Zero(n);
  program.cost(n - 1) = -1.0;
  program.low = VectorXd::Constant(n, -1.0);
  program.high = VectorXd::Ones(n);
  const auto first = static_cast<Eigen::Index>(gamma());
  const auto shares = static_cast<Eigen::Index>(stores());
  program.low.segment(first - shares, shares + 4).setZero();
  program.high(first + 1) = 1e-6;  // alpha is bounded already
  const auto corners = static_cast<Eigen::Index>(all_.corners.size());
  Solved centre = solve(program, {VectorXd::Zero(corners)}, true);
  centre_ = std::move(centre.x);
  active_ = std::move(centre.active);
  if (centre_.size() == 0) return;
  margin_ = 0.5 * centre_(n - 1);
  centre_.conservativeResize(n - 1);
  centre_(first + 1) = 0.0;
}

std::vector<FormSearch::Met> FormSearch::violated(const VectorXd& x, const Asked& asked,
                                                  double margin, double beyond) const {
  const Eigen::MatrixXd matrix =
      matrix_of(entries_, [&](std::size_t place) { return x(static_cast<Eigen::Index>(place)); });
  const auto first = static_cast<Eigen::Index>(gamma());
  const double own = x(first), alpha = x(first + 1), rest = own - alpha - x(first + 2);
  const Eigen::MatrixXd change = matrix * corner_parts_;
  std::vector<Met> met;
  for (std::size_t d = 0; d < all_.descents.size(); ++d) {
    const Descent& descent = all_.descents[d];
    double sum = own * descent_energy_[d];
    each_rate(descent, all_.motions[descent.motion], [&](std::size_t part, double rate) {
      sum += change(static_cast<Eigen::Index>(part), descent.corner) * rate;
    });
    each_stored(descent, [&](Eigen::Index share, double rate) { sum += x(share) * rate; });
    const double by = sum / descent_scale_[d] + margin;
    if (by > beyond) met.push_back({by, d});
  }
  for (std::size_t o = 0; o < all_.outcomes.size(); ++o) {
    const auto& [i, j] = all_.outcomes[o];
    const double has = rest * outcome_energy_[o] + corner_parts_.col(i).dot(change.col(j));
    const double wanted = share_of(asked.least, alpha) * asked.velocity(i) * asked.velocity(j);
    const double by = (wanted - has) / outcome_scale_[o] + margin;
    if (by > beyond) met.push_back({by, all_.descents.size() + o});
  }
  return met;
}

double FormSearch::write_row(std::size_t condition, const Asked& asked, VectorXd& row) const {
  const auto first = static_cast<Eigen::Index>(gamma());
  const auto add = [&](std::size_t a, std::size_t b, double value) {
    row(static_cast<Eigen::Index>(entries_.place(a, b))) += value;
  };
  const auto each_part = [&](const VectorXd& parts_of_one, auto&& visit) {
    for (Eigen::Index a = 0; a < parts_of_one.size(); ++a) {
      if (parts_of_one(a) != 0.0) visit(static_cast<std::size_t>(a), parts_of_one(a));
    }
  };
  if (condition < all_.descents.size()) {
    const Descent& descent = all_.descents[condition];
    const double scale = descent_scale_[condition];
    const VectorXd y = corner_parts_.col(descent.corner);
    each_rate(descent, all_.motions[descent.motion], [&](std::size_t b, double rate) {
      each_part(y, [&](std::size_t a, double part) { add(a, b, part * rate / scale); });
    });
    each_stored(descent, [&](Eigen::Index share, double rate) { row(share) = rate / scale; });
    row(first) = descent_energy_[condition] / scale;
    return 0.0;
  }
  const std::size_t outcome = condition - all_.descents.size();
  const auto& [i, j] = all_.outcomes[outcome];
  const double scale = outcome_scale_[outcome];
  const VectorXd y = corner_parts_.col(i), other = corner_parts_.col(j);
  each_part(y, [&](std::size_t a, double part) {
    each_part(other, [&](std::size_t b, double second) { add(a, b, -part * second / scale); });
  });
  const double energy = outcome_energy_[outcome] / scale;
  const double square = asked.velocity(i) * asked.velocity(j) / scale;
  row(first) = -energy;
  row(first + 1) = energy - (asked.least ? 0.0 : square);
  row(first + 2) = energy;
  return asked.least ? square : -square;
}

void FormSearch::fill(const std::vector<std::size_t>& chosen, const Asked& asked, bool margin,
                      InnerProgram& program) const {
  const auto rows = static_cast<Eigen::Index>(chosen.size());
  const Eigen::Index n = program.cost.size();
  program.rows.resize(rows, n);
  program.bounds.resize(rows);
  VectorXd row = VectorXd::Zero(n);
  for (Eigen::Index r = 0; r < rows; ++r) {
    program.bounds(r) = write_row(chosen[static_cast<std::size_t>(r)], asked, row);
    if (margin) row(n - 1) = 1.0;
    program.rows.startVec(r);
    for (Eigen::Index k = 0; k < n; ++k) {
      if (row(k) != 0.0) program.rows.insertBack(r, k) = row(k);
    }
    row.setZero();
  }
  program.rows.finalize();
}

FormSearch::Solved FormSearch::solve(InnerProgram program, const Asked& asked, bool margin) const {
  const Eigen::Index n = program.cost.size();
  const auto most_new = static_cast<std::size_t>(n);
  std::vector<std::size_t> chosen = active_;
  const std::size_t all = all_.descents.size() + all_.outcomes.size();
  for (std::size_t c = 0; c < all; c += std::max<std::size_t>(1, all / (2 * most_new))) {
    chosen.push_back(c);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  Solved result;
  double tolerance = kRoughTolerance, least = -std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostRounds; ++round) {
    fill(chosen, asked, margin, program);
    const InnerSolution found = solve_inner(program, tolerance);
    const bool last = tolerance == kTolerance;
    if (!found.solved && !(last && found.x.size() > 0)) break;
    result = {found.x, {}};
    const auto matters = [&](std::size_t r) {
      return found.multipliers(static_cast<Eigen::Index>(r)) > kActive;
    };
    for (std::size_t r = 0; r < chosen.size(); ++r) {
      if (matters(r)) result.active.push_back(chosen[r]);
    }
    std::vector<Met> met = violated(found.x, asked, margin ? found.x(n - 1) : 0.0, 2.0 * tolerance);
    if (last && (met.empty() || !found.solved)) return result;
    if (met.empty()) tolerance = kTolerance;
    // Rows that do nothing leave, as long as the program gets tighter; the most violated come.
    const VectorXd slack = program.bounds - program.rows * found.x;
    const double value = program.cost.dot(found.x);
    if (value > least + kRoughTolerance && chosen.size() > kManyRows * most_new) {
      std::vector<std::size_t> kept;
      for (std::size_t r = 0; r < chosen.size(); ++r) {
        if (slack(static_cast<Eigen::Index>(r)) < kNear || matters(r)) kept.push_back(chosen[r]);
      }
      chosen = std::move(kept);
    }
    least = std::max(least, value);
    std::sort(met.begin(), met.end(), [](const Met& a, const Met& b) {
      return a.by != b.by ? a.by > b.by : a.condition < b.condition;
    });
    if (met.size() > most_new) met.resize(most_new);
    for (const Met& each : met) chosen.push_back(each.condition);
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  // What is violated still is put right by the centre, which has to be one itself.
  return margin ? Solved{} : result;
}

std::optional<PiecewiseForm> FormSearch::closest(const BoundedRow& bounded) const {
  return search(bounded, nullptr);
}

std::optional<PiecewiseForm> FormSearch::first_closest(const BoundedRow& bounded) {
  std::vector<std::size_t> active;
  std::optional<PiecewiseForm> form = search(bounded, &active);
  if (form) active_ = std::move(active);
  return form;
}

std::optional<PiecewiseForm> FormSearch::search(const BoundedRow& bounded,
                                                std::vector<std::size_t>* active) const {
  if (!(margin_ >= kLeastMargin)) return std::nullopt;
  const auto first = static_cast<Eigen::Index>(gamma());
  const Eigen::Index n = first + 3;
  Asked asked{VectorXd(static_cast<Eigen::Index>(all_.corners.size())), bounded.least};
  for (std::size_t i = 0; i < all_.corners.size(); ++i) {
    asked.velocity(static_cast<Eigen::Index>(i)) =
        std::max(velocity_at(all_, bounded, all_.corners[i]), 0.0);
  }
  InnerProgram program;
  program.cost = VectorXd::Zero(n);
  const VectorXd y = parts(all_.start);
  entries_.each([&](std::size_t a, std::size_t b, std::size_t place) {
    const auto i = static_cast<Eigen::Index>(a), j = static_cast<Eigen::Index>(b);
    program.cost(static_cast<Eigen::Index>(place)) = (a == b ? 1.0 : 2.0) * y(i) * y(j);
  });
  program.cost(first) = 1.0;
  program.low = VectorXd::Constant(n, -kLargestFormEntry);
  program.high = VectorXd::Constant(n, kLargestFormEntry);
  program.low.tail(3 + static_cast<Eigen::Index>(stores())).setZero();
  if (bounded.least) program.low(first) = -kLargestFormEntry;
  program.high(first + 1) = 1.0;
  Solved solved = solve(program, asked, false);
  if (solved.x.size() == 0) return std::nullopt;
  if (active != nullptr) *active = std::move(solved.active);
  VectorXd& x = solved.x;
  // The energy and the centre fulfil all conditions by a margin: a little of them.
  VectorXd inner = centre_;
  inner(first) += 1.0;
  inner(first + 1) += 1.0;
  for (std::size_t i = 0; i < all_.stored.size(); ++i) inner(store(i)) += 1.0;
  double worst = kFormMargin;
  for (const Met& met : violated(x, asked, kFormMargin, 0.0)) worst = std::max(worst, met.by);
  const double share = worst / (worst + margin_);
  x += share * (inner - x);
  const auto rounded = [](double value) { return std::llround(std::ldexp(value, kFormBits)); };
  PiecewiseForm form;
  form.gamma = rounded(x(first));
  if (!bounded.least) form.gamma = std::max<std::int64_t>(form.gamma, 0);
  form.alpha = std::clamp<std::int64_t>(rounded(x(first + 1)), 0, std::int64_t{1} << kFormBits);
  form.beta = std::max<std::int64_t>(rounded(x(first + 2)), 0);
  for (std::size_t k = 0; k < entries_.count(); ++k) {
    form.entries.push_back(rounded(x(static_cast<Eigen::Index>(k))));
  }
  for (std::size_t i = 0; i < all_.stored.size(); ++i) {
    const double owes = all_.least_stored.empty() ? 0.0 : x(owed(i));
    const std::int64_t net = rounded(x(store(i)) - owes);
    form.stores.push_back(all_.least_stored.empty() ? std::max<std::int64_t>(net, 0) : net);
  }
  if (!is_bound(all_, form, bounded)) return std::nullopt;
  return form;
}

}  // namespace carom::enclosure
