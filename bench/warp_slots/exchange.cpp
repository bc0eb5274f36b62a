#include <algorithm>
#include <array>

#include "instructions.hpp"

namespace carom::warp_slots {

namespace {

using Words = std::array<std::uint32_t, kLanes>;

std::size_t at(int lane) { return static_cast<std::size_t>(lane); }

Words words_of(const Warp& warp, Mask on, const Operand& from) {
  Words words{};
  each_lane(on, [&](int lane) { words[at(lane)] = warp.bits(lane, from); });
  return words;
}

/// SHFL: the value of another lane of a segment; the lane's own where that lies outside.
void shuffle(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const Words values = words_of(warp, on, o[2]);
  each_lane(on, [&](int lane) {
    const auto by = static_cast<int>(warp.integer(lane, o[3]));
    const std::uint32_t limits = warp.integer(lane, o[4]);
    const int segment = static_cast<int>(limits >> 8U & 31U);  // bits of a lane that stay
    const int clamp = static_cast<int>(limits & 31U);
    const int first = lane & segment;
    const int last = first | (clamp & ~segment);
    int source = lane;
    if (in.has("BFLY")) {
      source = lane ^ (by & 31);
    } else if (in.has("IDX")) {
      source = first | (by & ~segment & 31);
    } else {
      throw Stuck("unknown form", in);
    }
    const bool inside = source <= last;
    if (!inside) source = lane;
    if ((on >> source & 1U) == 0) throw Stuck("value of a lane that is not there", in);
    warp.set(lane, o[1], values[at(source)]);
    warp.set_predicate(lane, o[0], inside);
  });
}

/// VOTE: lanes whose predicate holds as bits, and whether any, or ALL, does.
void vote(Warp& warp, const Instruction& in, Mask on) {
  if (!in.has("ANY") && !in.has("ALL")) throw Stuck("unknown form", in);
  const auto& o = in.operands;
  const Mask ballot = warp.where(on, o.back());
  const bool result = in.has("ALL") ? ballot == on : ballot != 0;
  const std::size_t flag = o[0].is_predicate() ? 0 : 1;
  each_lane(on, [&](int lane) {
    if (flag == 1) warp.set(lane, o[0], ballot);
    if (flag + 1 < o.size()) warp.set_predicate(lane, o[flag], result);
  });
}

/// MATCH.ANY: lanes that have the same value.
void match(Warp& warp, const Instruction& in, Mask on) {
  if (!in.has("ANY") || in.has("U64")) throw Stuck("unknown form", in);
  const auto& o = in.operands;
  const Words values = words_of(warp, on, o[1]);
  each_lane(on, [&](int lane) {
    Mask same = 0;
    each_lane(on, [&](int other) {
      if (values[at(other)] == values[at(lane)]) same |= Mask{1} << other;
    });
    warp.set(lane, o[0], same);
  });
}

/// REDUX: of words without signs, bits that one of the lanes has, the smallest, the largest.
void reduce(Warp& warp, const Instruction& in, Mask on) {
  if (on == 0) return;
  const auto& o = in.operands;
  const Words words = words_of(warp, on, o[1]);
  std::uint32_t all = words[at(std::countr_zero(on))];
  each_lane(on, [&](int lane) {
    const std::uint32_t value = words[at(lane)];
    if (in.has("S32")) throw Stuck("unknown form", in);
    if (in.has("OR")) {
      all |= value;
    } else if (in.has("MIN")) {
      all = std::min(all, value);
    } else if (in.has("MAX")) {
      all = std::max(all, value);
    } else {
      throw Stuck("unknown form", in);
    }
  });
  each_lane(on, [&](int lane) { warp.set(lane, o[0], all); });
}

/// R2UR: a word of the first lane, for all.
void make_uniform(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  if (o[0].is_predicate()) throw Stuck("unknown form", in);
  if (on != 0) warp.set(0, o[0], warp.bits(std::countr_zero(on), o[1]));
}

/// S2R, CS2R: what a lane is. The uniform data path has the block's.
void read_special(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const std::string& name = o[1].text;
  each_lane(on, [&](int lane) {
    const Mask bit = Mask{1} << lane;
    if (name == "SRZ") {
      in.has("32") ? warp.set(lane, o[0], 0) : warp.set_pair(lane, o[0], 0);
    } else if (name == "SR_TID.X" || name == "SR_LANEID") {  // a block is one warp
      warp.set(lane, o[0], static_cast<std::uint32_t>(lane));
    } else if (name == "SR_CTAID.X") {
      warp.set(lane, o[0], static_cast<std::uint32_t>(warp.block()));
    } else if (name == "SR_CgaCtaId") {  // clusters of one block
      warp.set(lane, o[0], 0);
    } else if (name == "SR_SWINHI") {
      warp.set(lane, o[0], static_cast<std::uint32_t>(Warp::kSharedBase >> 32U));
    } else if (name == "SR_LTMASK") {
      warp.set(lane, o[0], bit - 1);
    } else if (name == "SR_EQMASK") {
      warp.set(lane, o[0], bit);
    } else {
      throw Stuck("unknown register", in);
    }
  });
}

}  // namespace

const Instructions& exchange_instructions() {
  static const Instructions known{
      {"SHFL", shuffle},     {"VOTE", vote},         {"VOTEU", vote},
      {"MATCH", match},      {"REDUX", reduce},      {"R2UR", make_uniform},
      {"S2R", read_special}, {"S2UR", read_special}, {"CS2R", read_special}};
  return known;
}

}  // namespace carom::warp_slots
