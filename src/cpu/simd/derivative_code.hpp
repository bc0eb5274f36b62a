#pragma once

/// Functions for derivatives in each instruction set (dispatch.hpp has the other families).
namespace carom::cpu::simd {

struct InstructionSet;
struct LcpDerivativeRange;
struct QpDerivativeRange;
struct StepDerivativeRange;
struct WorldMap;
struct WorldPullback;
struct WorldSteps;

struct DerivativeCode {
  void (*lcps)(const LcpDerivativeRange&);
  void (*qps)(const QpDerivativeRange&);
  void (*steps)(const StepDerivativeRange&);
  bool (*pull_back_world)(const WorldPullback&, const WorldMap&, double* gradient);
  void (*world_steps)(WorldSteps&);
};

// What the units of an instruction set define.
template <class Isa>
void differentiate_lcps(const LcpDerivativeRange& range);
template <class Isa>
void differentiate_qps(const QpDerivativeRange& range);
template <class Isa>
void differentiate_steps(const StepDerivativeRange& range);
template <class Isa>
bool pull_back_world(const WorldPullback& world, const WorldMap& map, double* gradient);
template <class Isa>
void differentiate_world_steps(WorldSteps& steps);
template <class Isa>
const DerivativeCode& derivative_entries();

const DerivativeCode& derivative_code(const InstructionSet& set);

}  // namespace carom::cpu::simd
