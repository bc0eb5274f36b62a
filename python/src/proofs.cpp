#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <carom/certificate_curvature.hpp>
#include <carom/certificate_lcp.hpp>
#include <carom/certificate_lp.hpp>
#include <carom/certificate_qp.hpp>
#include <carom/coulomb.hpp>
#include <carom/lcp.hpp>
#include <carom/lp.hpp>
#include <carom/qp.hpp>

#include "call.hpp"
#include "cone_faces.hpp"
#include "families.hpp"
#include "settings.hpp"
#include "tables.hpp"

/// What results claim, judged anew: by the certificates, which share no code with any solver, from
/// the arrays of the problem and of the result as they are handed over. Residuals are infinite
/// where a proof is none, NaN where nothing is claimed.
namespace carom::python {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
const kernels::SingleLane kLane;

/// Arrays by name, of n problems or of one that all share.
class Given {
 public:
  Given(const nb::dict& arrays, std::int64_t problems) : arrays_(arrays), problems_(problems) {}

  class Rows {
   public:
    Rows(Buffer<double> values, std::int64_t width, bool shared)
        : values_(std::move(values)), width_(width), shared_(shared) {}
    [[nodiscard]] const double* operator[](std::int64_t p) const {
      return values_.data() + (shared_ ? 0 : p * width_);
    }

   private:
    Buffer<double> values_;
    std::int64_t width_;
    bool shared_;
  };

  /// Errors: InvalidInput where it has neither n rows of `width` numbers nor one.
  Rows operator()(const char* name, std::int64_t width) const {
    if (!arrays_.contains(name) || arrays_[name].is_none()) return {Buffer<double>(), 0, true};
    Buffer<double> values = borrowed<double>(arrays_[name]);
    const auto size = static_cast<std::int64_t>(values.size());
    if (size != width * problems_ && size != width) {
      throw InvalidInput(std::string(name) + " has " + std::to_string(size) +
                         " numbers: must have " + std::to_string(width * problems_));
    }
    return {std::move(values), width, size != width * problems_};
  }

 private:
  const nb::dict& arrays_;
  std::int64_t problems_;
};

/// Of a proof of several parts; numbers that are none prove nothing.
template <class... Residuals>
double worst_of(Residuals... each) {
  double worst = 0.0;
  for (const double residual : {each...}) {
    worst = residual <= worst ? worst : std::isnan(residual) ? kInfinity : residual;
  }
  return worst;
}
/// Infinite where a number of an answer is none: what no row feels no residual would see.
double finite(const double* values, std::int64_t count) {
  return std::all_of(values, values + count, [](double v) { return std::isfinite(v); }) ? 0.0
                                                                                        : kInfinity;
}

template <class Judge>
nb::object residuals(std::int64_t problems, std::int64_t each, Judge&& judge) {
  std::vector<double> found(static_cast<std::size_t>(problems * each), kNone);
  in_turns(problems, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t p = first; p < first + count; ++p) judge(p, found.data() + p * each);
  });
  return array_of(std::move(found));
}

nb::object lcp(const nb::dict& problem, const nb::dict& answer, std::int64_t problems, int n) {
  const Given given(problem, problems), own(answer, problems);
  const auto matrix = given("matrix", std::int64_t{n} * n), vector = given("vector", n),
             solution = own("solution", n), farkas = own("farkas", n);
  const bool proofs = !answer["farkas"].is_none();
  const auto status = borrowed<Status>(answer["status"]);
  std::vector<double> memory(static_cast<std::size_t>(certificate::lcp_judge_workspace(n)));
  return residuals(problems, 1, [&](std::int64_t p, double* to) {
    certificate::LcpJudge<kernels::SingleLane> judge(kLane, n, matrix[p], vector[p], memory.data());
    if (status.data()[p] == Status::solved) *to = worst_of(judge.residual(solution[p]));
    if (status.data()[p] == Status::infeasible && proofs) {
      *to = worst_of(judge.farkas_residual(farkas[p]));
    }
  });
}

nb::object lp(const nb::dict& problem, const nb::dict& answer, std::int64_t problems, int m, int n,
              int objectives) {
  const Given given(problem, problems), own(answer, problems);
  const std::int64_t rows = std::int64_t{m} * objectives, columns = std::int64_t{n} * objectives;
  const auto matrix = given("matrix", std::int64_t{m} * n), cost = given("cost", columns),
             row_lower = given("row_lower", m), row_upper = given("row_upper", m),
             column_lower = given("column_lower", n), column_upper = given("column_upper", n);
  const auto solution = own("solution", columns), dual = own("dual", rows),
             farkas = own("farkas", rows), ray = own("ray", columns), point = own("point", columns);
  const bool proofs = !answer["farkas"].is_none();
  const auto status = borrowed<Status>(answer["status"]);
  std::vector<double> memory(static_cast<std::size_t>(certificate::lp_certificate_workspace(m, n)));
  return residuals(problems, objectives, [&](std::int64_t p, double* to) {
    certificate::LpData data{
        m, n, nullptr, matrix[p], row_lower[p], row_upper[p], column_lower[p], column_upper[p]};
    certificate::LpCertificate<kernels::SingleLane> judge(kLane, m, n, memory.data());
    if (!judge.load(data)) {
      const bool crossed = judge.crossed();
      for (int k = 0; crossed && k < objectives; ++k) {
        if (status.data()[p * objectives + k] == Status::infeasible) to[k] = 0.0;
      }
      return;
    }
    for (int k = 0; k < objectives; ++k) {
      const auto of = [k](const double* all, int width) { return all + std::int64_t{k} * width; };
      if (!judge.load_cost(of(cost[p], n))) continue;
      switch (status.data()[p * objectives + k]) {
        case Status::solved:
          to[k] = worst_of(judge.residual(of(solution[p], n), of(dual[p], m)),
                           finite(of(solution[p], n), n), finite(of(dual[p], m), m));
          break;
        case Status::infeasible:
          if (proofs) to[k] = worst_of(judge.farkas_residual(of(farkas[p], m)));
          break;
        case Status::unbounded:
          if (proofs) {
            to[k] = worst_of(judge.primal_residual(of(point[p], n)),
                             judge.ray_residual(of(ray[p], n)), finite(of(point[p], n), n));
          }
          break;
        default:
          break;
      }
    }
  });
}

/// The rows of A above those of the cones, as the certificate takes them.
struct QpForm {
  using Data = kernels::PlainMemory<const double>;
  using Memory = kernels::PlainMemory<double>;

  QpForm(int variables, int interval_rows, const std::vector<Cone>& given)
      : n(variables), m(interval_rows), rows(interval_rows) {
    for (const Cone& cone : given) {
      if (cone.kind == ConeKind::second_order && cone.size > 1) {
        cones.push_back({rows, cone.size, 0, n});
      }
      for (int i = 0; i < cone.size; ++i) equation.push_back(cone.kind == ConeKind::zero);
      rows += cone.size;
    }
    const auto entries = static_cast<std::size_t>(rows) * static_cast<std::size_t>(n);
    matrix.resize(entries);
    lower.resize(static_cast<std::size_t>(rows));
    upper.resize(static_cast<std::size_t>(rows));
    for (int i = 0; i <= rows; ++i) first.push_back(i * n);
    for (int e = 0; e < rows * n; ++e) column.push_back(e % n);
    work.resize(static_cast<std::size_t>(
        std::max(certificate::qp_judge_workspace(n, rows), std::int64_t{2} * n)));
  }

  void load(const double* a, const double* l, const double* u, const double* c, const double* b) {
    const std::int64_t own = std::int64_t{m} * n;
    std::copy_n(a, own, matrix.begin());
    std::copy_n(c, static_cast<std::int64_t>(matrix.size()) - own, matrix.begin() + own);
    std::copy_n(l, m, lower.begin());
    std::copy_n(u, m, upper.begin());
    for (int i = m; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      upper[row] = b[i - m];
      lower[row] = equation[static_cast<std::size_t>(i - m)] ? b[i - m] : -kInfinity;
    }
  }

  /// judgement(judge) of the problem that was loaded.
  template <class Judgement>
  auto judged(const double* hessian, const double* gradient, Judgement&& judgement) {
    kernels::QpShape shape{};
    shape.variables = n;
    shape.rows = rows;
    shape.cones = static_cast<int>(cones.size());
    shape.cone = cones.data();
    shape.row_first = first.data();
    shape.column = column.data();
    const kernels::QpView<Data> view{
        {hessian}, {gradient}, {matrix.data()}, {lower.data()}, {upper.data()}};
    return judgement(certificate::QpJudge<double, kernels::SingleLane, Data, Memory>(
        kLane, shape, view, Memory{work.data()}));
  }

  [[nodiscard]] bool has_equations() const {
    return !std::equal(lower.begin(), lower.end(), upper.begin(), std::not_equal_to<>());
  }
  /// The largest |E d|_i of an equation over its terms.
  [[nodiscard]] double leaves_equations(const double* d) const {
    double worst = 0.0;
    for (int i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (lower[row] != upper[row]) continue;
      double sum = 0.0;
      double size = 0.0;
      for (int j = 0; j < n; ++j) {
        const double term =
            matrix[row * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)] * d[j];
        sum += term;
        size += std::abs(term);
      }
      if (size > 0.0) worst = std::max(worst, std::abs(sum) / size);
    }
    return worst;
  }

  [[nodiscard]] ConeFaces faces(const double* hessian, const double* gradient) const {
    ConeFaces judge{n, rows, hessian, gradient, matrix, lower, upper, {}};
    for (const kernels::QpConeSpan& cone : cones) judge.cones.push_back({cone.first, cone.size});
    return judge;
  }

  /// Whether y is the unit vector of a row whose bounds exclude each other.
  [[nodiscard]] bool crossed(const double* y) const {
    int set = -1;
    for (int i = 0; i < rows; ++i) {
      if (y[i] == 0.0) continue;
      if (set >= 0 || y[i] != 1.0) return false;
      set = i;
    }
    return set >= 0 && set < m &&
           lower[static_cast<std::size_t>(set)] > upper[static_cast<std::size_t>(set)];
  }

  int n, m, rows;
  std::vector<kernels::QpConeSpan> cones;
  std::vector<bool> equation;
  std::vector<double> matrix, lower, upper, work;
  std::vector<int> first, column;
};

/// Residual of a proof that no other is looked for.
constexpr double kClose = 1e-9;

/// The objective's slope P x + q at x, and d'P d over its terms.
struct Slope {
  Slope(int n, const double* hessian, const double* q, const double* x, const double* d)
      : flat(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.0), gradient(q, q + n) {
    double size = 0.0;
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        const double entry =
            k <= j ? hessian[std::int64_t{j} * n + k] : hessian[std::int64_t{k} * n + j];
        gradient[static_cast<std::size_t>(j)] += entry * x[k];
        curvature += d[j] * entry * d[k];
        size += std::abs(d[j] * entry * d[k]);
      }
    }
    curvature = size > 0.0 ? std::abs(curvature) / size : 0.0;
  }
  std::vector<double> flat, gradient;
  double curvature = 0.0;
};

nb::object qp(const nb::dict& problem, const nb::dict& answer, std::int64_t problems, int n, int m,
              const std::vector<std::pair<std::string, int>>& cones) {
  std::vector<Cone> given_cones;
  for (const auto& [kind, size] : cones) {
    given_cones.push_back({enumerator<ConeKind>("cones", nb::cast(kind)), size});
  }
  QpForm form(n, m, given_cones);
  const int k = form.rows - m;
  const std::int64_t proof = std::max(n, form.rows);
  const Given given(problem, problems), own(answer, problems);
  const auto hessian = given("hessian", std::int64_t{n} * n), gradient = given("vector", n),
             matrix = given("matrix", std::int64_t{m} * n), lower = given("lower", m),
             upper = given("upper", m), cone_matrix = given("cone_matrix", std::int64_t{k} * n),
             cone_vector = given("cone_vector", k);
  const auto solution = own("solution", n), dual = own("dual", m), cone_dual = own("cone_dual", k),
             certificate = own("certificate", proof), point = own("point", n);
  const auto status = borrowed<Status>(answer["status"]);
  std::vector<double> y(static_cast<std::size_t>(form.rows));
  return residuals(problems, 1, [&](std::int64_t p, double* to) {
    const Status claim = status.data()[p];
    form.load(matrix[p], lower[p], upper[p], cone_matrix[p], cone_vector[p]);
    const auto judged = [&](auto&& judgement) {
      return form.judged(hessian[p], gradient[p], judgement);
    };
    if (claim == Status::solved) {
      std::copy_n(dual[p], m, y.begin());
      std::copy_n(cone_dual[p], k, y.begin() + m);
      if (!form.cones.empty() && !std::isnan(certificate[p][0])) {
        *to = worst_of(
            form.faces(hessian[p], gradient[p]).optimal(solution[p], y.data(), certificate[p]),
            finite(solution[p], n), finite(y.data(), form.rows));
        return;
      }
      const double residual = judged([&](const auto& judge) {
        return judge.residual(QpForm::Data{solution[p]}, QpForm::Data{y.data()}).value();
      });
      *to = worst_of(residual, finite(solution[p], n), finite(y.data(), form.rows));
    } else if (claim == Status::infeasible) {
      const auto farkas = [&](const auto& judge) {
        return judge.farkas_residual(QpForm::Data{certificate[p]});
      };
      *to = form.crossed(certificate[p]) ? 0.0 : worst_of(judged(farkas));
    } else if (claim == Status::unbounded) {
      const auto ray = [&](const auto& judge) {
        return judge.ray_residual(QpForm::Data{certificate[p]});
      };
      double falling = judged(ray);
      if (form.has_equations() && !(falling <= kClose)) {  // perhaps convex on those only
        const Slope slope(n, hessian[p], gradient[p], point[p], certificate[p]);
        falling = std::min(
            falling,
            worst_of(slope.curvature, form.judged(slope.flat.data(), slope.gradient.data(), ray)));
      }
      *to = judged([&](const auto& judge) {
        return worst_of(falling, judge.point_residual(QpForm::Data{point[p]}), finite(point[p], n));
      });
    } else if (claim == Status::no_interior) {
      const ConeFaces faces = form.faces(hessian[p], gradient[p]);
      if (std::isnan(point[p][0])) {
        *to = worst_of(faces.face(certificate[p]));
      } else {
        const double met =
            judged([&](const auto& judge) { return judge.point_residual(QpForm::Data{point[p]}); });
        *to = worst_of(faces.level(certificate[p]), met, finite(point[p], n));
      }
    } else if (claim == Status::nonconvex) {
      const double curvature =
          certificate::relative_curvature(kLane, n, hessian[p], certificate[p], form.work.data());
      *to = curvature < 0.0 ? form.leaves_equations(certificate[p]) : kInfinity;
    }
  });
}

nb::object coulomb(const nb::dict& problem, const nb::dict& answer, std::int64_t problems,
                   int dimension, int contacts) {
  const Given given(problem, problems), own(answer, problems);
  const std::int64_t rows = std::int64_t{dimension} * contacts;
  const auto matrix = given("matrix", rows * rows), vector = given("vector", rows),
             friction = given("friction", contacts), reaction = own("reaction", rows);
  const auto status = borrowed<Status>(answer["status"]);
  return residuals(problems, 1, [&](std::int64_t p, double* to) {
    if (status.data()[p] != Status::solved) return;
    const auto part = [](const double* from, std::int64_t count) {
      return std::vector<double>(from, from + count);
    };
    const CoulombProblem one{dimension, contacts, part(matrix[p], rows * rows),
                             part(vector[p], rows), part(friction[p], contacts)};
    *to = worst_of(coulomb_residual(one, part(reaction[p], rows)));
  });
}

}  // namespace

void add_proofs(nb::module_& module) {
  module.def("lcp_residuals", lcp);
  module.def("lp_residuals", lp);
  module.def("qp_residuals", qp);
  module.def("coulomb_residuals", coulomb);
}

}  // namespace carom::python
