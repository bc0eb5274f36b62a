#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <carom/boxed_lcp.hpp>
#include <carom/certificate_boxed_lcp.hpp>
#include <carom/lcp_decision.hpp>

#include "call.hpp"
#include "families.hpp"
#include "settings.hpp"
#include "tables.hpp"

namespace carom::python {

namespace {

nb::dict boxed_lcp(const nb::dict& arrays, std::int64_t problems, int order,
                   const nb::dict& settings, nb::handle backend) {
  BoxedLcpBatch batch;
  static_cast<BoxedLcpSizes&>(batch) = {problems, order};
  borrow(batch, batch, arrays);
  const auto chosen = settings_from<BoxedLcpSettings>(settings);
  const auto where = enumerator<Backend>("backend", backend);
  return arrays_of(in_pieces<BoxedLcpResult>(batch, batch,
                                             [&](const BoxedLcpBatch& piece, std::int64_t) {
                                               return solve_boxed_lcp(piece, chosen, where);
                                             }),
                   batch);
}

/// Judged anew from the problem's and the answer's arrays, all of n problems; frozen: the boxes of
/// friction rows are those of `limit`.
nb::object residuals(const nb::dict& problem, const nb::dict& answer, std::int64_t problems, int n,
                     bool frozen) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  BoxedLcpBatch batch;
  static_cast<BoxedLcpSizes&>(batch) = {problems, n};
  borrow(batch, batch, problem);
  const auto solution = borrowed<double>(answer["solution"]),
             farkas = borrowed<double>(answer["farkas"]);
  Buffer<double> limit;
  if (frozen) limit = borrowed<double>(answer["limit"]);
  const auto status = borrowed<Status>(answer["status"]);
  std::vector<double> found(static_cast<std::size_t>(problems),
                            std::numeric_limits<double>::quiet_NaN());
  std::vector<double> memory(static_cast<std::size_t>(certificate::boxed_lcp_judge_workspace(n)));
  std::vector<double> low(static_cast<std::size_t>(n)), high(low);
  in_turns(problems, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t p = first; p < first + count; ++p) {
      const Status own = status.data()[p];
      if (own != Status::solved && own != Status::infeasible) continue;
      const std::int64_t at = p * n;
      certificate::BoxedLcpData data{n,
                                     batch.matrix.data() + at * n,
                                     batch.vector.data() + at,
                                     batch.lower.data() + at,
                                     batch.upper.data() + at,
                                     batch.findex.empty() ? nullptr : batch.findex.data() + at,
                                     batch.friction.empty() ? nullptr : batch.friction.data() + at};
      if (frozen) {
        for (int i = 0; i < n; ++i) {
          const auto k = static_cast<std::size_t>(i);
          const bool rubs = data.index(i) >= 0;
          low[k] = rubs ? -limit.data()[at + i] : data.lower[i];
          high[k] = rubs ? limit.data()[at + i] : data.upper[i];
        }
        data.lower = low.data();
        data.upper = high.data();
        data.findex = nullptr;
      }
      double value = 0.0;
      if (own == Status::solved) {
        value = certificate::BoxedLcpJudge(data, memory.data()).residual(solution.data() + at);
      } else {
        std::vector<double> more(
            static_cast<std::size_t>(certificate::boxed_lcp_farkas_workspace(n)));
        value = certificate::boxed_lcp_farkas_residual(data, farkas.data() + at, more.data());
      }
      found[static_cast<std::size_t>(p)] = std::isnan(value) ? kInfinity : value;
    }
  });
  return array_of(std::move(found));
}

/// One dict a problem.
nb::list listed(std::vector<LcpDecision> decisions) {
  nb::list result;
  for (LcpDecision& own : decisions) {
    std::vector<std::int32_t> tree;
    for (const LcpTreeNode& node : own.tree) {
      for (const int value : {node.parent, node.pair, node.side}) tree.push_back(value);
    }
    std::vector<double> leaves;
    for (const auto& y : own.leaf_farkas) leaves.insert(leaves.end(), y.begin(), y.end());
    nb::dict entry;
    const std::size_t nodes = own.tree.size(), count = own.leaf_farkas.size();
    const std::size_t rows = count > 0 ? own.leaf_farkas.front().size() : 0;
    entry["status"] = static_cast<int>(own.status);
    entry["solution"] = array_of(std::move(own.solution));
    entry["residual"] = own.residual;
    entry["nodes"] = own.nodes;
    entry["bound"] = own.bound;
    entry["tree"] = array_of(std::move(tree), {nodes, 3});
    entry["leaf_farkas"] = array_of(std::move(leaves), {count, rows});
    result.append(entry);
  }
  return result;
}

void fill_leaves(const Buffer<double>& values, std::size_t rows, LcpDecision& decision) {
  for (std::size_t i = 0; rows > 0 && i + rows <= values.size(); i += rows) {
    decision.leaf_farkas.emplace_back(values.data() + i, values.data() + i + rows);
  }
}

template <class Batch>
nb::list decide(const nb::dict& arrays, std::int64_t problems, int order,
                const nb::dict& settings) {
  Batch batch;
  static_cast<typename Batch::Sizes&>(batch) = {problems, order};
  borrow(batch, batch, arrays);
  const auto chosen = settings_from<LcpDecisionSettings>(settings);
  return listed(list_in_pieces(
      batch,
      [&](const Batch& piece, std::int64_t) {
        if constexpr (std::is_same_v<Batch, LcpBatch>) {
          return decide_lcp(piece, chosen);
        } else {
          return decide_boxed_lcp(piece, chosen);
        }
      },
      16));
}

/// Of one problem, with lower and upper that of a boxed LCP.
double tree_residual(const nb::dict& problem, nb::handle tree, nb::handle leaves, double bound) {
  BoxedLcpBatch batch;
  const auto q = borrowed<double>(problem["vector"]), y = borrowed<double>(leaves);
  const auto nodes = borrowed<std::int32_t>(tree);
  const auto n = static_cast<int>(q.size());
  LcpDecision decision;
  decision.bound = bound;
  for (std::size_t i = 0; i + 2 < nodes.size(); i += 3) {
    decision.tree.push_back({nodes.data()[i], nodes.data()[i + 1], nodes.data()[i + 2]});
  }
  std::size_t rows = q.size();
  if (!problem.contains("lower")) {
    const auto m = borrowed<double>(problem["matrix"]);
    fill_leaves(y, rows, decision);
    return lcp_tree_residual(n, m.data(), q.data(), decision);
  }
  static_cast<BoxedLcpSizes&>(batch) = {1, n};
  borrow(batch, batch, problem);
  const bool rubs = !batch.findex.empty();
  for (std::size_t i = 0; i < q.size() && !decision.tree.empty(); ++i) {
    if (rubs && batch.findex.data()[i] >= 0) rows += 2;
  }
  fill_leaves(y, rows, decision);
  return boxed_lcp_tree_residual(
      {n, batch.matrix.data(), q.data(), batch.lower.data(), batch.upper.data(),
       rubs ? batch.findex.data() : nullptr, rubs ? batch.friction.data() : nullptr},
      decision);
}

}  // namespace

void add_boxed_lcp(nb::module_& module) {
  using nb::literals::operator""_a;
  module.def("solve_boxed_lcp", boxed_lcp, "arrays"_a, "problems"_a, "order"_a, "settings"_a,
             "backend"_a);
  module.def("boxed_lcp_settings", described<BoxedLcpSettings>);
  module.def("boxed_lcp_residuals", residuals);
  module.def("decide_lcp", decide<LcpBatch>, "arrays"_a, "problems"_a, "order"_a, "settings"_a);
  module.def("decide_boxed_lcp", decide<BoxedLcpBatch>, "arrays"_a, "problems"_a, "order"_a,
             "settings"_a);
  module.def("lcp_decision_settings", described<LcpDecisionSettings>);
  module.def("lcp_tree_residual", tree_residual, "problem"_a, "tree"_a, "leaves"_a, "bound"_a);
}

}  // namespace carom::python
