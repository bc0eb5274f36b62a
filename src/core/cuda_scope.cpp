#include <carom/types/backend.hpp>

namespace carom {

namespace {

thread_local const CudaScope* innermost = nullptr;

}  // namespace

void CudaScope::enter() {
  outer_ = innermost;
  innermost = this;
}

CudaScope::~CudaScope() { innermost = outer_; }

const CudaScope* CudaScope::current() { return innermost; }

}  // namespace carom
