#pragma once

/// What a test may ask of a device that the host plays.
namespace cuda_on_host {

/// The n-th allocation from now on fails, and that one alone; 0: none.
void fail_allocation(int n);
/// Allocations that are alive, and those made since the start.
long allocations();
long allocations_made();
/// Copies to the host since the start.
long downloads_made();

}  // namespace cuda_on_host
