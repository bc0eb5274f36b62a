#pragma once

#include <atomic>
#include <memory>

namespace carom {

struct WorkspaceState;

/// Memory that a call leaves to the calls after it: of the threads on the cpu, of the device and
/// its streams on cuda. A call takes what it finds, whatever family and shape left it, and
/// allocates what it lacks: for a repeated shape its results, and what QPs, impacts, the first
/// impacts of motions and proofs of stability prepare anew. Results have the same bits with a
/// workspace and without. The memory of each family grows to that of its largest call (on cuda: of
/// a piece of the batch, of bounded size) and stays until clear() or the end of the workspace.
///
/// One call at a time: another one meanwhile, in whatever thread, is refused (InvalidInput, field
/// "workspace"). Several threads have one workspace each. It must not be moved or destroyed during
/// a call; one that was moved from is empty and may be used as a new one.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&& other) noexcept;

  /// Gives all memory back. Errors: InvalidInput during a call.
  void clear();

 private:
  friend class WorkspaceLease;
  std::atomic<bool> busy_{false};
  std::unique_ptr<WorkspaceState> state_;
};

}  // namespace carom
