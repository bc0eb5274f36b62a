#pragma once

#include <carom/types/qp.hpp>

namespace carom {

/// Answers whose x lies far along P's null space, where the terms of x'P x cancel: objectives once
/// more in twice the precision, and inaccurate for solved where x and the multipliers have no
/// objective in common, as docs/howto/check_a_proof.md has it. On the host; nothing for device
/// memory.
void judge_far_answers(const QpBatch& batch, QpResult& result, int threads);

}  // namespace carom
