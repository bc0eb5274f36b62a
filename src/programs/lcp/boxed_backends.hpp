#pragma once

#include <carom/types/boxed_lcp.hpp>

#include "core/backends.hpp"

// What each backend offers for boxed LCPs. Shapes, findex and friction were validated before.
namespace carom {

struct BoxedLcpEntries {
  BoxedLcpResult (*solve)(const BoxedLcpBatch&, const BoxedLcpSettings&);
};

namespace cpu {
BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings);
template <>
const BoxedLcpEntries& entries();
}  // namespace cpu
namespace reference {
BoxedLcpResult solve_boxed_lcp(const BoxedLcpBatch& batch, const BoxedLcpSettings& settings);
template <>
const BoxedLcpEntries& entries();
}  // namespace reference

}  // namespace carom
