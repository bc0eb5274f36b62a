#include "core/workspace.hpp"

#include <carom/types/error.hpp>

namespace carom {

Workspace::Workspace() = default;
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&& other) noexcept : state_(std::move(other.state_)) {}
Workspace& Workspace::operator=(Workspace&& other) noexcept {
  state_ = std::move(other.state_);
  return *this;
}

void Workspace::clear() {
  const WorkspaceLease lease(this);
  state_.reset();
}

WorkspaceLease::WorkspaceLease(Workspace* workspace) : workspace_(workspace) {
  if (workspace_ == nullptr) return;
  if (workspace_->busy_.exchange(true, std::memory_order_acquire)) {
    throw InvalidInput(Refusal{
        .field = "workspace", .value = "used by another call", .rule = "takes one call at a time"});
  }
}

WorkspaceLease::~WorkspaceLease() {
  if (workspace_ != nullptr) workspace_->busy_.store(false, std::memory_order_release);
}

WorkspaceState* WorkspaceLease::state() const {
  if (workspace_ == nullptr) return nullptr;
  if (workspace_->state_ == nullptr) workspace_->state_ = std::make_unique<WorkspaceState>();
  return workspace_->state_.get();
}

}  // namespace carom
