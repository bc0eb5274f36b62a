#include <algorithm>
#include <cfenv>
#include <cmath>

#include "instructions.hpp"

namespace carom::warp_slots {

namespace {

/// The instruction's rounding; to nearest where it names none.
class Rounding {
 public:
  explicit Rounding(const Instruction& in) : before_(std::fegetround()) {
    if (in.has("RP")) std::fesetround(FE_UPWARD);
    if (in.has("RM")) std::fesetround(FE_DOWNWARD);
    if (in.has("RZ")) std::fesetround(FE_TOWARDZERO);
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;
  ~Rounding() { std::fesetround(before_); }

 private:
  int before_;
};

void add(Warp& warp, const Instruction& in, Mask on) {
  const Rounding rounding(in);
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    warp.set_real(lane, o[0], warp.real(lane, o[1]) + warp.real(lane, o[2]));
  });
}

void multiply(Warp& warp, const Instruction& in, Mask on) {
  const Rounding rounding(in);
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    warp.set_real(lane, o[0], warp.real(lane, o[1]) * warp.real(lane, o[2]));
  });
}

void multiply_add(Warp& warp, const Instruction& in, Mask on) {
  const Rounding rounding(in);
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    warp.set_real(lane, o[0],
                  std::fma(warp.real(lane, o[1]), warp.real(lane, o[2]), warp.real(lane, o[3])));
  });
}

void multiply_add_single(Warp& warp, const Instruction& in, Mask on) {
  const Rounding rounding(in);
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    const float value =
        std::fma(warp.single(lane, o[1]), warp.single(lane, o[2]), warp.single(lane, o[3]));
    warp.set(lane, o[0], std::bit_cast<std::uint32_t>(value));
  });
}

/// MAX, MIN: whether the first of two is taken, a number before NaN; then whether both are NaN.
void choose(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    const double a = warp.real(lane, o[2]);
    const double b = warp.real(lane, o[3]);
    const bool first = !std::isnan(a) && (std::isnan(b) || (in.has("MAX") ? a > b : a < b));
    warp.set_predicate(lane, o[0], first);
    warp.set_predicate(lane, o[1], std::isnan(a) && std::isnan(b));
  });
}

void compare(Warp& warp, const Instruction& in, Mask on) {
  if (in.has("MAX") || in.has("MIN")) return choose(warp, in, on);
  const unsigned wanted = wanted_relation(in);
  const auto& o = in.operands;
  const bool doubles = in.name == "DSETP";
  each_lane(on, [&](int lane) {
    const unsigned found = doubles ? relation(warp.real(lane, o[2]), warp.real(lane, o[3]))
                                   : relation(warp.single(lane, o[2]), warp.single(lane, o[3]));
    set_comparison(warp, in, lane, (found & wanted) != 0, warp.predicate(lane, o[4]));
  });
}

/// A choice of bits: NaN goes through as it is.
void select_single(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    const Operand& chosen = warp.predicate(lane, o[3]) ? o[1] : o[2];
    std::uint32_t value = warp.bits(lane, chosen);
    if (chosen.absolute) value &= 0x7fffffffU;
    if (chosen.negative) value ^= 0x80000000U;
    warp.set(lane, o[0], value);
  });
}

/// Upper half of 1 / x or 1 / sqrt(x) of a double whose lower half is 0. A device gives fewer
/// correct bits; what follows refines them to the same quotient.
void approximate(Warp& warp, const Instruction& in, Mask on) {
  const bool reciprocal = in.has("RCP64H");
  if (!reciprocal && !in.has("RSQ64H")) throw Stuck("unknown form", in);
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    double x = std::bit_cast<double>(std::uint64_t{warp.bits(lane, o[1])} << 32U);
    if (o[1].absolute) x = std::fabs(x);
    if (o[1].negative) x = -x;
    const double value = 1.0 / (reciprocal ? x : std::sqrt(x));
    const auto upper = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32U);
    warp.set(lane, o[0], upper);
  });
}

void integer_to_double(Warp& warp, const Instruction& in, Mask on) {
  if (!in.has("F64") || in.has("U64")) throw Stuck("unknown form", in);
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    if (in.has("S64")) {
      const auto value = static_cast<std::int64_t>(warp.pair(lane, o[1]));
      return warp.set_real(lane, o[0], static_cast<double>(value));
    }
    const std::uint32_t value = warp.bits(lane, o[1]);
    const double real = in.has("U16")   ? static_cast<double>(value & 0xffffU)
                        : in.has("U32") ? static_cast<double>(value)
                                        : static_cast<double>(static_cast<std::int32_t>(value));
    warp.set_real(lane, o[0], real);
  });
}

/// To the signed word towards zero, or the nearest one there is.
void double_to_integer(Warp& warp, const Instruction& in, Mask on) {
  if (in.modifiers != std::vector<std::string>{"F64", "TRUNC"}) throw Stuck("unknown form", in);
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    const double value = warp.real(lane, o[1]);
    if (std::isnan(value)) throw Stuck("no number", in);
    const double within = std::clamp(std::trunc(value), -0x1p31, 0x1p31 - 1.0);
    warp.set(lane, o[0], static_cast<std::uint32_t>(static_cast<std::int32_t>(within)));
  });
}

/// HFMA2.MMA of zeros: two halves that stand in it, of which compilers make a move.
void move_halves(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  for (const std::size_t k : {1, 2}) {
    if (o[k].kind != Operand::Kind::word || o[k].index != kZeroRegister) {
      throw Stuck("unknown form", in);
    }
  }
  each_lane(on, [&](int lane) { warp.set(lane, o[0], o[4].value); });
}

}  // namespace

const Instructions& number_instructions() {
  static const Instructions known{{"DADD", add},
                                  {"DMUL", multiply},
                                  {"DFMA", multiply_add},
                                  {"FFMA", multiply_add_single},
                                  {"DSETP", compare},
                                  {"FSETP", compare},
                                  {"FSEL", select_single},
                                  {"MUFU", approximate},
                                  {"I2F", integer_to_double},
                                  {"F2I", double_to_integer},
                                  {"HFMA2", move_halves}};
  return known;
}

}  // namespace carom::warp_slots
