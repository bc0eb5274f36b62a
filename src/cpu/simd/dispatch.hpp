#pragma once

#include <span>
#include <string_view>

#include "equilibrium/support_code.hpp"

namespace carom {
struct PilotJob;
struct EntryJob;
struct EnumerationJob;
struct OrderJob;
namespace kernels {
struct QpTaskArrays;
}  // namespace kernels
}  // namespace carom

/// Every unit of this folder but dispatch.cpp is compiled once for each instruction set, with its
/// flags, CAROM_ISA (Generic, Avx2 or Avx512) and CAROM_ISA_HEADER (cmake/CaromSimd.cmake).
namespace carom::cpu::simd {

struct BlockJob;
struct EventBlock;
struct AnyEventBlock;
struct StepRange;
struct LcpRange;
struct LpRange;
struct QpRange;
struct QpWarmRange;
struct LpPoolRange;
struct WorldsRange;
struct CompliantRange;
struct MotionRange;
struct PlanarPack;

struct PlanarSearch {
  int width;
  void (*run)(const PlanarPack&);
};
/// The entries of one instruction set.
struct InstructionSet {
  std::string_view name;
  void (*run_block)(const BlockJob&);
  void (*follow_events)(const EventBlock&);
  void (*follow_any_events)(const AnyEventBlock&);
  void (*solve_steps)(const StepRange&);
  void (*follow_pilots)(const PilotJob&);
  void (*build_entries)(const EntryJob&);
  void (*enumerate_pilots)(const EnumerationJob&);
  void (*order_conditions)(const OrderJob&);
  void (*solve_lcps)(const LcpRange&);
  void (*solve_lps)(const LpRange&);
  void (*solve_qps)(const QpRange&);
  void (*warm_qps)(const QpWarmRange&);
  void (*pool_lps)(const LpPoolRange&);
  void (*finish_qp)(const kernels::QpTaskArrays&, long problem, bool tried, double* workspace);
  void (*step_worlds)(const WorldsRange&);
  void (*solve_compliant)(const CompliantRange&);
  void (*simulate_motions)(const MotionRange&);
  PlanarSearch planar;
  SupportCode support;
};

// What the units of an instruction set define.
template <class Isa>
void run_block(const BlockJob& job);
template <class Isa>
void follow_events(const EventBlock& block);
template <class Isa>
void follow_any_events(const AnyEventBlock& block);
template <class Isa>
void solve_steps(const StepRange& range);
template <class Isa>
void follow_pilots(const PilotJob& job);
template <class Isa>
void build_entries(const EntryJob& job);
template <class Isa>
void enumerate_pilots(const EnumerationJob& job);
template <class Isa>
void order_conditions(const OrderJob& job);
template <class Isa>
void solve_lcps(const LcpRange& range);
template <class Isa>
void solve_lps(const LpRange& range);
template <class Isa>
void solve_qps(const QpRange& range);
template <class Isa>
void warm_qps(const QpWarmRange& range);
template <class Isa>
void pool_lps(const LpPoolRange& range);
template <class Isa>
void finish_qp(const kernels::QpTaskArrays& arrays, long problem, bool tried, double* workspace);
template <class Isa>
void step_worlds(const WorldsRange& range);
template <class Isa>
void solve_compliant(const CompliantRange& range);
template <class Isa>
void simulate_motions(const MotionRange& range);
template <class Isa>
PlanarSearch planar_search();
template <class Isa>
SupportCode support_code();
template <class Isa>
const InstructionSet& entries();

/// Those of this build that this machine runs, narrowest first. Errors: BackendUnavailable where
/// there are none (CAROM_NATIVE_ONLY).
std::span<const InstructionSet* const> instruction_sets();

/// The widest of them.
inline const InstructionSet& instruction_set() { return *instruction_sets().back(); }

}  // namespace carom::cpu::simd
