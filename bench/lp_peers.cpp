#include "lp_peers.hpp"

#include <cmath>

#if defined(CAROM_PEER_GLPK)
#include <glpk.h>
#endif
#if defined(CAROM_PEER_CLP) && defined(CAROM_PEER_COINUTILS)
#include <ClpSimplex.hpp>
#include <CoinPackedMatrix.hpp>
#endif

namespace carom::bench {

namespace {

/// Nonzeros of the matrix, row by row.
struct Entries {
  std::vector<int> row, column;
  std::vector<double> value;

  Entries(const certificate::LpData& lp, int first) {
    // GLPK counts from 1 and leaves out element 0.
    for (int k = 0; k < first; ++k) {
      row.push_back(0);
      column.push_back(0);
      value.push_back(0.0);
    }
    for (int i = 0; i < lp.rows; ++i) {
      for (int j = 0; j < lp.columns; ++j) {
        const double entry = lp.matrix[i * lp.columns + j];
        if (entry == 0.0) continue;
        row.push_back(i + first);
        column.push_back(j + first);
        value.push_back(entry);
      }
    }
  }
};

#if defined(CAROM_PEER_GLPK)
class Glpk : public LpPeer {
 public:
  explicit Glpk(const certificate::LpData& lp)
      : rows_(lp.rows), columns_(lp.columns), problem_(glp_create_prob()) {
    glp_term_out(GLP_OFF);
    glp_add_rows(problem_, lp.rows);
    glp_add_cols(problem_, lp.columns);
    for (int i = 0; i < lp.rows; ++i) {
      glp_set_row_bnds(problem_, i + 1, type_of(lp.row_lower[i], lp.row_upper[i]), lp.row_lower[i],
                       lp.row_upper[i]);
    }
    for (int j = 0; j < lp.columns; ++j) {
      glp_set_col_bnds(problem_, j + 1, type_of(lp.column_lower[j], lp.column_upper[j]),
                       lp.column_lower[j], lp.column_upper[j]);
    }
    const Entries entries(lp, 1);
    glp_load_matrix(problem_, static_cast<int>(entries.value.size()) - 1, entries.row.data(),
                    entries.column.data(), entries.value.data());
    glp_init_smcp(&settings_);
    settings_.msg_lev = GLP_MSG_OFF;
  }
  ~Glpk() override { glp_delete_prob(problem_); }
  Glpk(const Glpk&) = delete;
  Glpk& operator=(const Glpk&) = delete;

  bool solve(const double* cost, bool cold) override {
    for (int j = 0; j < columns_; ++j) glp_set_obj_coef(problem_, j + 1, cost[j]);
    if (cold) glp_std_basis(problem_);
    return glp_simplex(problem_, &settings_) == 0 && glp_get_status(problem_) == GLP_OPT;
  }
  void answer(double* x, double* y) override {
    for (int j = 0; j < columns_; ++j) x[j] = glp_get_col_prim(problem_, j + 1);
    for (int i = 0; i < rows_; ++i) y[i] = glp_get_row_dual(problem_, i + 1);
  }

 private:
  static int type_of(double lower, double upper) {
    if (lower == upper) return GLP_FX;
    if (std::isfinite(lower)) return std::isfinite(upper) ? GLP_DB : GLP_LO;
    return std::isfinite(upper) ? GLP_UP : GLP_FR;
  }

  int rows_, columns_;
  glp_prob* problem_;
  glp_smcp settings_{};
};
#endif

#if defined(CAROM_PEER_CLP) && defined(CAROM_PEER_COINUTILS)
class Clp : public LpPeer {
 public:
  explicit Clp(const certificate::LpData& lp) : rows_(lp.rows), columns_(lp.columns) {
    simplex_.setLogLevel(0);
    const Entries entries(lp, 0);
    const CoinPackedMatrix matrix(true, entries.row.data(), entries.column.data(),
                                  entries.value.data(),
                                  static_cast<CoinBigIndex>(entries.value.size()));
    simplex_.loadProblem(matrix, lp.column_lower, lp.column_upper, lp.cost, lp.row_lower,
                         lp.row_upper);
  }

  bool solve(const double* cost, bool cold) override {
    for (int j = 0; j < columns_; ++j) simplex_.setObjectiveCoefficient(j, cost[j]);
    if (cold) simplex_.allSlackBasis(true);
    // 7: what the last call left in place may be used again.
    simplex_.primal(0, cold ? 0 : 7);
    return simplex_.isProvenOptimal();
  }
  void answer(double* x, double* y) override {
    for (int j = 0; j < columns_; ++j) x[j] = simplex_.primalColumnSolution()[j];
    for (int i = 0; i < rows_; ++i) y[i] = simplex_.dualRowSolution()[i];
  }

 private:
  int rows_, columns_;
  ClpSimplex simplex_;
};
#endif

}  // namespace

const std::vector<LpPeerKind>& lp_peers() {
  static const std::vector<LpPeerKind> all = {
#if defined(CAROM_PEER_GLPK)
    {"glpk",
     [](const certificate::LpData& lp) -> std::unique_ptr<LpPeer> {
       return std::make_unique<Glpk>(lp);
     }},
#endif
#if defined(CAROM_PEER_CLP) && defined(CAROM_PEER_COINUTILS)
    {"clp",
     [](const certificate::LpData& lp) -> std::unique_ptr<LpPeer> {
       return std::make_unique<Clp>(lp);
     }},
#endif
  };
  return all;
}

}  // namespace carom::bench
