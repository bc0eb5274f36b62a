#pragma once

#include <cstddef>
#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

#include <carom/types/batch.hpp>
#include <carom/types/workspace.hpp>

// Contents of a workspace, and how a call obtains it.
namespace carom {

/// One kind of memory that a backend keeps between calls.
struct ScratchBlock {
  ScratchBlock() = default;
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;
  virtual ~ScratchBlock() = default;
};

struct WorkspaceState {
  using Kept = std::unique_ptr<ScratchBlock>;

  /// Where the block of a type is kept; null before the first call.
  template <class Block>
  Kept& of() {
    const std::type_index wanted(typeid(Block));
    for (auto& [type, block] : blocks_) {
      if (type == wanted) return block;
    }
    return blocks_.emplace_back(wanted, nullptr).second;
  }

 private:
  std::vector<std::pair<std::type_index, Kept>> blocks_;
};

/// A workspace for the time of a call. Errors: InvalidInput where another call has it.
class WorkspaceLease {
 public:
  /// `workspace` may be null.
  explicit WorkspaceLease(Workspace* workspace);
  WorkspaceLease(const WorkspaceLease&) = delete;
  WorkspaceLease& operator=(const WorkspaceLease&) = delete;
  ~WorkspaceLease();

  /// What entries take; null without a workspace.
  [[nodiscard]] WorkspaceState* state() const;

 private:
  Workspace* workspace_;
};

/// A block of the workspace, or one that ends with the call where there is none.
template <class Block>
class Scratch {
 public:
  explicit Scratch(WorkspaceState* workspace) {
    WorkspaceState::Kept& kept = workspace != nullptr ? workspace->of<Block>() : own_;
    if (kept == nullptr) kept = std::make_unique<Block>();
    block_ = static_cast<Block*>(kept.get());
  }
  Block& operator*() const { return *block_; }
  Block* operator->() const { return block_; }

 private:
  WorkspaceState::Kept own_;
  Block* block_;
};

/// Room for `size` values at least; their contents are lost where they grow.
template <class T>
void make_room(Buffer<T>& values, long size) {
  if (values.size() < static_cast<std::size_t>(size)) {
    values = Buffer<T>(static_cast<std::size_t>(size));
  }
}
template <class T>
void make_room(std::vector<T>& values, long size) {
  if (values.size() < static_cast<std::size_t>(size)) {
    values.resize(static_cast<std::size_t>(size));
  }
}

}  // namespace carom
