#include "peers.hpp"

#include <algorithm>
#include <cstdlib>

#include "plain_lemke.hpp"

#if defined(CAROM_PEER_DART)
#include <dart/lcpsolver/Lemke.hpp>
#endif
#if defined(CAROM_PEER_SICONOS)
#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>
#endif

namespace carom::bench {

namespace {

using RowMajor = test::Matrix;

template <int N>
class PlainSolver : public DenseSolver {
 public:
  explicit PlainSolver(const DenseSet& set) : set_(set) {}
  bool solve(long problem, double* z) override {
    using Solver = PlainLemke<N>;
    const Eigen::Map<const typename Solver::MatrixN> matrix(set_.matrix_of(problem), set_.order,
                                                            set_.order);
    const Eigen::Map<const typename Solver::VectorN> vector(set_.vector_of(problem), set_.order);
    Eigen::Map<typename Solver::VectorN> solution(z, set_.order);
    return solver_.solve(matrix, vector, solution);
  }

 private:
  const DenseSet& set_;
  PlainLemke<N> solver_;
};

std::unique_ptr<DenseSolver> prepare_plain(const DenseSet& set) {
  return std::make_unique<PlainSolver<Eigen::Dynamic>>(set);
}

std::unique_ptr<DenseSolver> prepare_plain_fixed(const DenseSet& set) {
  if (set.order == 10) return std::make_unique<PlainSolver<10>>(set);
  return std::make_unique<PlainSolver<28>>(set);
}

#if defined(CAROM_PEER_DART)
class DartSolver : public DenseSolver {
 public:
  explicit DartSolver(const DenseSet& set) {
    for (long p = 0; p < set.count; ++p) {
      matrices_.emplace_back(Eigen::Map<const RowMajor>(set.matrix_of(p), set.order, set.order));
      vectors_.emplace_back(Eigen::Map<const Eigen::VectorXd>(set.vector_of(p), set.order));
    }
  }
  bool solve(long problem, double* z) override {
    const auto p = static_cast<std::size_t>(problem);
    const int error = dart::lcpsolver::Lemke(matrices_[p], vectors_[p], &solution_);
    std::copy_n(solution_.data(), std::min(solution_.size(), vectors_[p].size()), z);
    return error == 0;
  }

 private:
  std::vector<Eigen::MatrixXd> matrices_;
  std::vector<Eigen::VectorXd> vectors_;
  Eigen::VectorXd solution_;
};

std::unique_ptr<DenseSolver> prepare_dart(const DenseSet& set) {
  return std::make_unique<DartSolver>(set);
}
#endif

#if defined(CAROM_PEER_SICONOS)
class SiconosSolver : public DenseSolver {
 public:
  explicit SiconosSolver(const DenseSet& set)
      : vectors_(set.vector),
        other_(static_cast<std::size_t>(set.order)),
        options_(solver_options_create(SICONOS_LCP_LEMKE)) {
    const auto n = static_cast<std::size_t>(set.order);
    columns_.resize(set.matrix.size());
    problems_.resize(static_cast<std::size_t>(set.count));
    for (std::size_t p = 0; p < problems_.size(); ++p) {
      double* columns = columns_.data() + p * n * n;
      Eigen::Map<Eigen::MatrixXd>(columns, set.order, set.order) =
          Eigen::Map<const RowMajor>(set.matrix_of(static_cast<long>(p)), set.order, set.order);
      problems_[p].size = set.order;
      problems_[p].M = NM_new();
      NM_fill(problems_[p].M, NM_DENSE, set.order, set.order, columns);
      problems_[p].q = vectors_.data() + p * n;
    }
  }
  ~SiconosSolver() override {
    for (LinearComplementarityProblem& problem : problems_) {
      problem.M->matrix0 = nullptr;  // the vector's, not the matrix's
      NM_clear(problem.M);
      std::free(problem.M);
    }
    solver_options_delete(options_);
  }
  SiconosSolver(const SiconosSolver&) = delete;
  SiconosSolver& operator=(const SiconosSolver&) = delete;

  bool solve(long problem, double* z) override {
    LinearComplementarityProblem& lcp = problems_[static_cast<std::size_t>(problem)];
    std::fill_n(z, lcp.size, 0.0);
    int info = 0;
    lcp_lexicolemke(&lcp, z, other_.data(), &info, options_);
    return info == 0;
  }

 private:
  std::vector<double> columns_;
  std::vector<double> vectors_;
  std::vector<double> other_;
  std::vector<LinearComplementarityProblem> problems_;
  SolverOptions* options_;
};

std::unique_ptr<DenseSolver> prepare_siconos(const DenseSet& set) {
  return std::make_unique<SiconosSolver>(set);
}
#endif

}  // namespace

const std::vector<Peer>& peers() {
  constexpr auto kAny = [](int) { return true; };
  constexpr auto kFixed = [](int order) { return order == 10 || order == 28; };
  static const std::vector<Peer> all = {
    {"plain_eigen", prepare_plain, kAny},
    {"plain_eigen_fixed", prepare_plain_fixed, kFixed},
#if defined(CAROM_PEER_DART)
    {"dart", prepare_dart, kAny},
#endif
#if defined(CAROM_PEER_SICONOS)
    {"siconos", prepare_siconos, kAny},
#endif
  };
  return all;
}

}  // namespace carom::bench
