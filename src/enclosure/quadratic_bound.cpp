#include "enclosure/quadratic_bound.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>

#include <carom/lp.hpp>

#include "enclosure/normal_rates.hpp"
#include "enclosure/piecewise_bound.hpp"
#include "enclosure/summary.hpp"

namespace carom::enclosure {

namespace {

constexpr double kLargestEntry = 32.0;
constexpr double kMargin = 1e-8;  // by which rates stay below 0, for the rounding of entries
constexpr int kRounds = 40;
constexpr int kEnergyAlone = -1;  // in the place of a contact: the form bounds all velocities

/// Linear programs for the entries of a form: x = (entries, 1 - gamma, margin), maximised; signs of
/// velocities that let the form grow become rows as they are met.
class FormProgram {
 public:
  FormProgram(const NormalRates& rates, int contact)
      : rates_(rates),
        gamma_(QuadraticForm::place(rates.parts.size(), 0)),
        margin_(gamma_ + 1),
        most_saved_(contact == kEnergyAlone ? 0.0 : 1.0) {
    // Where nothing approaches: u_i^2 <= the form, where u_i^2 <= K / K before.
    for (std::size_t a = 0; a < rates.parts.size(); a += 2) {
      for (std::size_t b = 0; b <= a; b += 2) {
        std::vector<double> row(margin_ + 1);
        row[QuadraticForm::place(a, b)] = -1.0;
        if (a == b && static_cast<int>(a) == 2 * contact) row[gamma_] = 1.0;
        add(row, 0.0);
      }
    }
  }

  /// The least value before the impact, or the largest margin; empty where that is not found.
  std::vector<double> solve(bool for_margin) {
    std::vector<double> gain(margin_ + 1);
    if (for_margin) {
      gain[margin_] = 1.0;
    } else {
      for (std::size_t a = 0; a < rates_.parts.size(); ++a) {
        for (std::size_t b = 0; b < rates_.parts.size(); ++b) {
          gain[QuadraticForm::place(a, b)] -= rates_.parts[a] * rates_.parts[b];
        }
      }
      gain[gamma_] = 1.0;
    }
    for (int round = 0; round < kRounds; ++round) {
      std::vector<double> x = maximum(gain, for_margin ? 1.0 : 0.0);
      if (x.empty() || !add_violated(x)) return x;
    }
    return {};
  }

  [[nodiscard]] double margin_of(const std::vector<double>& x) const { return x[margin_]; }

  [[nodiscard]] QuadraticForm form_of(const std::vector<double>& x, int contact) const {
    const auto rounded = [](double value) { return std::llround(std::ldexp(value, kFormBits)); };
    QuadraticForm form;
    form.gamma -= rounded(x[gamma_]);
    for (std::size_t k = 0; k < gamma_; ++k) form.entries.push_back(rounded(x[k]));
    for (std::size_t a = 0; a < rates_.parts.size(); a += 2) {
      for (std::size_t b = 0; b <= a; b += 2) {
        std::int64_t& value = form.entries[QuadraticForm::place(a, b)];
        value = std::max<std::int64_t>(value, 0);
      }
    }
    if (contact != kEnergyAlone) {
      const auto a = 2 * static_cast<std::size_t>(contact);
      form.gamma = std::max(form.gamma, QuadraticForm{}.gamma - form(a, a));
    }
    form.gamma = std::max<std::int64_t>(form.gamma, 0);
    return form;
  }

 private:
  void add(const std::vector<double>& row, double bound) {
    rows_.insert(rows_.end(), row.begin(), row.end());
    bounds_.push_back(bound);
  }
  /// max gain.x over all rows, entries in their box and 0 <= margin <= most; empty where it fails.
  [[nodiscard]] std::vector<double> maximum(const std::vector<double>& gain, double most) const {
    const std::size_t n = margin_ + 1, given = bounds_.size();
    constexpr std::size_t kMostRows = 256;  // more would take too long for what it gives
    if (given > kMostRows || n > kMaxLpColumns) return {};
    LpBatch batch = allocate<LpBatch>({1, static_cast<int>(given), static_cast<int>(n), 1});
    std::copy(rows_.begin(), rows_.end(), batch.matrix.data());
    std::copy(bounds_.begin(), bounds_.end(), batch.row_upper.data());
    std::fill_n(batch.row_lower.data(), given, -std::numeric_limits<double>::infinity());
    std::transform(gain.begin(), gain.end(), batch.cost.data(), std::negate<>());
    std::fill_n(batch.column_lower.data(), n, -kLargestEntry);
    std::fill_n(batch.column_upper.data(), n, kLargestEntry);
    batch.column_lower.data()[gamma_] = batch.column_lower.data()[margin_] = 0.0;
    batch.column_upper.data()[gamma_] = most_saved_;
    batch.column_upper.data()[margin_] = most;
    LpSettings settings;
    settings.certificates = false;
    settings.threads = 1;
    const LpResult found = solve_lp(batch, settings, Backend::cpu);
    if (found.status.data()[0] != Status::solved) return {};
    return {found.solution.data(), found.solution.data() + n};
  }

  /// Of every contact that pushes and every coordinate the direction of friction that errs most.
  bool add_violated(const std::vector<double>& x) {
    const auto entry = [&](std::size_t a, std::size_t b) { return x[QuadraticForm::place(a, b)]; };
    bool added = false;
    for (std::size_t i = 0; i < rates_.rate.size(); ++i) {
      for (std::size_t of = 0; of < rates_.parts.size(); ++of) {
        if (of == 2 * i) continue;
        const bool own = of == 2 * i + 1;
        double most = own ? 1.0 - x[gamma_] : 0.0;
        most += 0.1 * kMargin - x[margin_];
        std::vector<std::size_t> worst;
        std::size_t direction = 0;
        for (std::size_t d = 0; d < rates_.rate[i].size(); ++d) {
          std::vector<std::size_t> active;
          const double rate =
              std::ldexp(worst_rate<double>(rates_, entry, i, d, of, &active), -kRateBits);
          if (rate > most) most = rate, worst = std::move(active), direction = d;
        }
        if (worst.empty()) continue;
        std::vector<double> row(margin_ + 1);
        row[margin_] = 1.0;
        for (std::size_t j = 0; j < worst.size(); ++j) {
          const double change =
              std::ldexp(static_cast<double>(rates_.rate[i][direction][j]), -kRateBits);
          row[QuadraticForm::place(worst[j], of)] += worst[j] % 2 == 0 ? change : -change;
        }
        if (own) row[gamma_] = 1.0;
        add(row, own ? 1.0 : 0.0);
        added = true;
      }
    }
    return added;
  }

  const NormalRates& rates_;
  std::size_t gamma_, margin_;  // places in x
  double most_saved_;           // of 1 - gamma
  std::vector<double> rows_, bounds_;
};

/// The form with the least value before the impact that is found: of only the energy where no
/// other is.
QuadraticForm best_form(const NormalRates& rates, int contact) {
  if (rates.contacts > kMostFormContacts) return {};
  FormProgram program(rates, contact);
  std::vector<double> best = program.solve(false);
  if (best.empty()) return {};
  const std::vector<double> inner = program.solve(true);
  if (inner.empty() || program.margin_of(inner) < 1e4 * kMargin) return {};
  const double share = 2.0 * kMargin / program.margin_of(inner);
  for (std::size_t k = 0; k < best.size(); ++k) best[k] += share * (inner[k] - best[k]);
  QuadraticForm form = program.form_of(best, contact);
  if (!never_grows(rates, form) || value_before(rates, form) >= 1.0) return {};
  return form;
}

/// That u_contact^2, in its unit, is at most the form wherever nothing approaches; of all
/// velocities in theirs for the energy's.
bool bounds_outcomes(const NormalRates& rates, const QuadraticForm& form, int contact) {
  const std::int64_t whole = QuadraticForm{}.gamma;
  if (contact == kEnergyAlone && form.gamma < whole) return false;
  for (std::size_t a = 0; a < rates.parts.size(); a += 2) {
    for (std::size_t b = 0; b <= a; b += 2) {
      const bool own = a == b && static_cast<int>(a) == 2 * contact;
      if (form(a, b) < (own ? whole - std::min(form.gamma, whole) : 0)) return false;
    }
  }
  return true;
}

/// Whether nothing approaches: the velocity is the outcome.
bool has_ended(const NormalRates& rates) {
  return std::all_of(rates.velocity.begin(), rates.velocity.begin() + rates.contacts,
                     [](double u) { return u >= 0.0; });
}

/// Bounds that follow from proven forms: of all velocities first, then of every contact.
void set_bounds(const NormalRates& rates, const std::vector<QuadraticForm>& forms,
                ImpactEnclosure& enclosure) {
  const auto m = static_cast<std::size_t>(rates.contacts);
  const double infinite = std::numeric_limits<double>::infinity();
  const bool ended = has_ended(rates);
  const double of_all = value_before(rates, forms.front());
  const auto outward = [&](double value, double direction) {
    return value == 0.0
               ? value
               : std::nextafter(value + std::copysign(1e-14 * value, direction), direction);
  };
  for (std::size_t k = 0; k < rates.velocity.size(); ++k) {
    const bool normal = k < m;
    const double share = normal ? std::min(of_all, value_before(rates, forms[k + 1])) : of_all;
    const double most = std::sqrt(share) * rates.largest[k] * (1.0 + 1e-12);
    const double low = ended ? outward(rates.velocity[k], -infinite) : (normal ? 0.0 : -most);
    const double high = ended ? outward(rates.velocity[k], infinite) : most;
    (normal ? enclosure.normal_velocity_min : enclosure.tangent_velocity_min).push_back(low);
    (normal ? enclosure.normal_velocity_max : enclosure.tangent_velocity_max).push_back(high);
  }
}

/// "carom-form 1", contacts, then of every form gamma, the number of its entries, and they.
std::string text_of(const std::vector<QuadraticForm>& forms) {
  std::ostringstream out;
  out << "carom-form 1 " << forms.size() - 1 << '\n';
  for (const QuadraticForm& form : forms) {
    out << form.gamma << ' ' << form.entries.size();
    for (const std::int64_t entry : form.entries) out << ' ' << entry;
    out << '\n';
  }
  return out.str();
}

std::optional<std::vector<QuadraticForm>> read_forms(const std::string& text, int contacts) {
  std::istringstream in(text);
  std::string word;
  int version = 0, count = 0;
  if (!(in >> word >> version >> count) || word != "carom-form" || version != 1 ||
      count != contacts) {
    return std::nullopt;
  }
  const std::size_t whole = QuadraticForm::place(2 * static_cast<std::size_t>(contacts), 0);
  std::vector<QuadraticForm> forms(static_cast<std::size_t>(contacts) + 1);
  for (QuadraticForm& form : forms) {
    std::size_t entries = 0;
    if (!(in >> form.gamma >> entries) || (entries != 0 && entries != whole)) return std::nullopt;
    form.entries.resize(entries);
    for (std::int64_t& entry : form.entries) {
      if (!(in >> entry)) return std::nullopt;
    }
  }
  return in >> word ? std::nullopt : std::optional(std::move(forms));
}

}  // namespace

ImpactEnclosure bound_by_forms(const ImpactProblem& problem, const EnclosureSettings& settings,
                               const ImpactEvent* question) {
  const auto start = std::chrono::steady_clock::now();
  const NormalRates rates = normal_rates(problem);
  if (!rates.known) {
    ImpactEnclosure nothing;
    set_unknown(problem, nothing);
    return nothing;
  }
  std::vector<QuadraticForm> forms;
  const bool stores = !stored_shares(problem, settings.law).empty();
  for (int contact = kEnergyAlone; contact < problem.contacts; ++contact) {
    forms.push_back(stores ? QuadraticForm{} : best_form(rates, contact));
  }
  ImpactEnclosure enclosure;
  enclosure.status = EnclosureStatus::outer;
  enclosure.law = settings.law;
  set_bounds(rates, forms, enclosure);
  enclosure.invariant = text_of(forms);
  if (!has_ended(rates)) tighten(problem, settings, question, enclosure);
  enclosure.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return enclosure;
}

std::optional<ImpactEnclosure> proven_bound(const ImpactProblem& problem, RestitutionLaw law,
                                            const std::string& text) {
  const NormalRates rates = normal_rates(problem);
  const std::size_t planes = planes_at(text);
  const auto forms = read_forms(text.substr(0, planes), problem.contacts);
  if (!forms || !rates.known) return std::nullopt;
  const bool stores = !stored_shares(problem, law).empty();
  for (std::size_t f = 0; f < forms->size(); ++f) {
    const int contact = static_cast<int>(f) + kEnergyAlone;
    if (stores && !(*forms)[f].entries.empty()) return std::nullopt;
    if (!never_grows(rates, (*forms)[f]) || !bounds_outcomes(rates, (*forms)[f], contact)) {
      return std::nullopt;
    }
  }
  ImpactEnclosure held;
  held.law = law;
  set_bounds(rates, *forms, held);
  if (planes != text.size() && has_ended(rates)) return std::nullopt;
  if (!tighten_by(problem, text.substr(planes), held)) return std::nullopt;
  return held;
}

bool proves_bound(const ImpactProblem& problem, const ImpactEnclosure& enclosure) {
  if (enclosure.status != EnclosureStatus::outer || !enclosure.impossible_modes.empty()) {
    return false;
  }
  const std::optional<ImpactEnclosure> held =
      proven_bound(problem, enclosure.law, enclosure.invariant);
  return held && is_within(*held, enclosure);
}

}  // namespace carom::enclosure
