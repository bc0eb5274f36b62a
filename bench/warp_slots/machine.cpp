#include "machine.hpp"

#include <map>
#include <string_view>

namespace carom::warp_slots {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }
Mask bit(int lane) { return Mask{1} << static_cast<unsigned>(lane); }

Execute execute_of(const Instruction& in) {
  for (const Instructions* known : {&number_instructions(), &integer_instructions(),
                                    &memory_instructions(), &exchange_instructions()}) {
    const auto found = known->find(in.name);
    if (found != known->end()) return found->second;
  }
  return nullptr;
}

}  // namespace

Machine::Control Machine::control_of(const Instruction& in) {
  static const std::map<std::string_view, Control> known{{"BRA", Control::jump},
                                                         {"CALL", Control::jump},
                                                         {"BSSY", Control::set_barrier},
                                                         {"BSYNC", Control::wait_barrier},
                                                         {"BREAK", Control::leave_barrier},
                                                         {"BMOV", Control::move_barrier},
                                                         {"WARPSYNC", Control::sync},
                                                         {"EXIT", Control::exit},
                                                         {"RET", Control::back},
                                                         {"NOP", Control::skip},
                                                         {"YIELD", Control::skip},
                                                         {"ENDCOLLECTIVE", Control::skip}};
  const auto found = known.find(in.name);
  return found == known.end() ? Control::none : found->second;
}

Machine::Machine(const Program& program) : program_(program), issues_(program.code.size()) {
  for (const Instruction& in : program.code) {
    execute_.push_back(execute_of(in));
    control_.push_back(control_of(in));
  }
}

void Machine::run(Warp& warp, std::uint64_t limit) {
  ended_ = 0;
  waits_.fill({});
  for (auto& lane : barriers_) lane.fill({});
  ready_.assign(1, {kAllLanes, 0});
  while (!ready_.empty()) {
    const LaneSet set = ready_.back();
    ready_.pop_back();
    run_set(warp, set, limit);
  }
  if (ended_ == kAllLanes) return;
  const int lane = std::countr_zero(~ended_);
  const int next = waits_[at(lane)].next;
  throw Stuck("lanes wait for each other", program_.code.at(at(next)));
}

void Machine::run_set(Warp& warp, LaneSet set, std::uint64_t limit) {
  for (;;) {
    const Instruction& in = program_.code.at(at(set.place));
    const Control control = control_[at(set.place)];
    Issues& issues = issues_[at(set.place)];
    Mask on = in.guarded ? warp.where(set.lanes, in.guard) : set.lanes;
    if (++slots_ > limit) throw Stuck("does not end", in);
    ++issues.slots;
    issues.lanes += static_cast<std::uint64_t>(std::popcount(on));
    if (control != Control::none) {
      if (!follow(warp, in, control, on, set)) return;
      continue;
    }
    const Execute execute = execute_[at(set.place)];
    if (execute == nullptr) throw Stuck("unknown instruction", in);
    if (in.name[0] == 'U') on &= -on;  // the uniform data path: once a warp
    execute(warp, in, on);
    ++set.place;
  }
}

bool Machine::follow(Warp& warp, const Instruction& in, Control control, Mask on, LaneSet& set) {
  Wait what;
  switch (control) {
    case Control::none:
    case Control::skip:
      break;
    case Control::jump:
      jump(warp, in, on, set);
      return true;
    case Control::set_barrier:
      each_lane(on, [&](int lane) {
        barriers_[at(lane)][at(in.operands[0].index)] = {on, in.target};
      });
      break;
    case Control::wait_barrier:
      if (on != set.lanes) throw Stuck("unknown form", in);
      each_lane(on, [&](int lane) {
        const int barrier = in.operands[0].index;
        int next = barriers_[at(lane)][at(barrier)].next;
        if (next == kNotSet) throw Stuck("waits for nobody", in);
        if (next == kBehind) next = set.place + 1;
        waits_[at(lane)] = {Wait::At::barrier, barrier, 0, next};
      });
      release();
      return false;
    case Control::leave_barrier:
      leave_barrier(warp, in, on);
      break;
    case Control::move_barrier:
      move_barrier(warp, in, on);
      break;
    case Control::sync:
      if (on != set.lanes) throw Stuck("unknown form", in);
      what.at = in.has("COLLECTIVE") ? Wait::At::collective : Wait::At::sync;
      what.next = set.place + 1;
      each_lane(on, [&](int lane) {
        what.mask = in.has("ALL") ? kAllLanes : warp.bits(lane, in.operands[0]);
        waits_[at(lane)] = what;
      });
      release();
      return false;
    case Control::exit:
      ended_ |= on;
      set.lanes &= ~on;
      release();
      if (set.lanes == 0) return false;
      break;
    case Control::back:
      go_back(warp, in, on, set);
      return true;
  }
  ++set.place;
  return true;
}

void Machine::jump(Warp& warp, const Instruction& in, Mask on, LaneSet& set) {
  Mask taken = on;
  for (const Operand& operand : in.operands) {
    if (operand.is_predicate()) taken = warp.where(taken, operand);
  }
  // DIV: only where the set is not the one that a mask names, CONV: only where it is; U: only where
  // all take it.
  if (in.has("DIV") && set.lanes == warp.bits(0, in.operands[0])) taken = 0;
  if (in.has("CONV") && set.lanes != warp.bits(0, in.operands[0])) taken = 0;
  if (in.has("U") && taken != set.lanes) taken = 0;
  if (in.target < 0) throw Stuck("unknown form", in);
  if (taken == set.lanes) {
    set.place = in.target;
    return;
  }
  if (taken != 0) ready_.push_back({taken, in.target});
  set.lanes &= ~taken;
  ++set.place;
}

void Machine::leave_barrier(Warp& warp, const Instruction& in, Mask on) {
  std::size_t which = 0;
  for (; in.operands[which].is_predicate(); ++which) on = warp.where(on, in.operands[which]);
  const std::size_t index = at(in.operands[which].index);
  for (auto& lane : barriers_) lane[index].lanes &= ~on;
  each_lane(on, [&](int lane) { barriers_[at(lane)][index].lanes = 0; });
  release();
}

/// BMOV.32.CLEAR R, B and BMOV.32 B, R.
void Machine::move_barrier(Warp& warp, const Instruction& in, Mask on) {
  const bool keeps = in.operands[0].kind == Operand::Kind::word;
  if (!in.has("32") || keeps != in.has("CLEAR")) throw Stuck("unknown form", in);
  each_lane(on, [&](int lane) {
    Barrier& barrier = barriers_[at(lane)][at(in.operands[keeps ? 1 : 0].index)];
    if (keeps) {
      warp.set(lane, in.operands[0], barrier.lanes);
      barrier = {};
    } else {
      barrier = {warp.bits(lane, in.operands[1]), kBehind};
    }
  });
}

/// Each lane to the address in its register; the lowest first, behind lanes that stay.
void Machine::go_back(Warp& warp, const Instruction& in, Mask on, LaneSet& set) {
  std::size_t from = 0;
  for (; in.operands[from].is_predicate(); ++from) on = warp.where(on, in.operands[from]);
  std::map<int, Mask> by_place;
  each_lane(on, [&](int lane) {
    const auto address = static_cast<int>(warp.bits(lane, in.operands[from]));
    const auto found = program_.place_of.find(address);
    if (found == program_.place_of.end()) throw Stuck("no instruction to return to", in);
    by_place[found->second] |= bit(lane);
  });
  set = {set.lanes & ~on, set.place + 1};
  for (auto each = by_place.rbegin(); each != by_place.rend(); ++each) {
    ready_.push_back({each->second, each->first});
  }
  if (set.lanes != 0) return;
  set = ready_.back();
  ready_.pop_back();
}

/// Lanes that one that waits goes on with. Who has left the barrier goes alone.
Mask Machine::needed(int lane) const {
  const Wait& own = waits_[at(lane)];
  const Mask named =
      own.at == Wait::At::barrier ? barriers_[at(lane)][at(own.barrier)].lanes : own.mask;
  const Mask running = named & ~ended_;
  return (running & bit(lane)) != 0 ? running : bit(lane);
}

bool Machine::meet(const Wait& a, const Wait& b) const {
  if (a.at != b.at) return false;
  return a.at == Wait::At::barrier ? a.barrier == b.barrier && a.next == b.next : a.mask == b.mask;
}

/// Puts sets of lanes together of which all have come.
void Machine::release() {
  for (bool again = true; again;) {
    again = false;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (waits_[at(lane)].at == Wait::At::nothing) continue;
      const Mask together = needed(lane);
      bool complete = true;
      each_lane(together, [&](int other) {
        complete = complete && meet(waits_[at(lane)], waits_[at(other)]);
      });
      if (!complete) continue;
      std::map<int, Mask> by_place;
      each_lane(together, [&](int other) {
        by_place[waits_[at(other)].next] |= bit(other);
        waits_[at(other)].at = Wait::At::nothing;
      });
      for (const auto& [place, lanes] : by_place) ready_.push_back({lanes, place});
      again = true;
    }
  }
}

}  // namespace carom::warp_slots
