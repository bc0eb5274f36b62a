#pragma once

#include <cstdint>

#include <carom/types/boxed_lcp.hpp>

#include "programs/lcp/boxed.hpp"

namespace carom::cpu {

/// kernels::follow_box_path of an instruction set.
using FollowBox = void (*)(kernels::BoxLemkeJob&);

/// One problem of a batch, by all that finds or excludes an answer: paths in doubles and in twice
/// the precision, Farkas' vector, other paths. result: NaN but for pivots. ended: what the first
/// path has come to, of the box without friction rows, or null.
void solve_box_alone(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings,
                     BoxedLcpResult& result, std::int64_t p, FollowBox follow,
                     const boxed::Ended* ended = nullptr);

/// The limits that an answer with friction rows has itself, against those that it was solved with.
void compare_limits(const BoxedLcpBatch& batch, FrictionLaw law, BoxedLcpResult& result,
                    std::int64_t p);

}  // namespace carom::cpu
