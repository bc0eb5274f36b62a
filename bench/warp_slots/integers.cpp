#include <algorithm>

#include "instructions.hpp"

namespace carom::warp_slots {

namespace {

std::int64_t as_signed(std::uint32_t value) { return static_cast<std::int32_t>(value); }

/// The product of two words, signed or not, as 64 bits.
std::uint64_t product(std::uint32_t a, std::uint32_t b, bool is_unsigned) {
  return is_unsigned ? std::uint64_t{a} * b
                     : static_cast<std::uint64_t>(as_signed(a) * as_signed(b));
}

void move(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  each_lane(on, [&](int lane) { warp.set(lane, o[0], warp.bits(lane, o[1])); });
}

void select(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    warp.set(lane, o[0], warp.integer(lane, warp.predicate(lane, o[3]) ? o[1] : o[2]));
  });
}

/// IMAD, UIMAD: a b + c; WIDE: of 64 bits, HI: the upper half of a b, X: one more where a predicate
/// says so. What else it may be called (MOV, IADD, SHL) is the same.
void multiply_add(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const bool is_unsigned = in.has("U32");
  each_lane(on, [&](int lane) {
    const std::uint64_t ab =
        product(warp.integer(lane, o[1]), warp.integer(lane, o[2]), is_unsigned);
    if (in.has("WIDE")) {
      warp.set_pair(lane, o[0], ab + warp.pair(lane, o[3]));
      return;
    }
    const auto part = static_cast<std::uint32_t>(in.has("HI") ? ab >> 32U : ab);
    const std::uint32_t carry = in.has("X") && warp.predicate(lane, o[4]) ? 1 : 0;
    warp.set(lane, o[0], part + warp.integer(lane, o[3]) + carry);
  });
}

/// Three words to a sum and its carry, of which a second predicate has what is above one; X: with
/// the carries of the lower words, -a being ~a then.
void add_three(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  std::size_t first = 1;
  while (o[first].is_predicate()) ++first;
  const bool extended = in.has("X");
  each_lane(on, [&](int lane) {
    std::uint64_t sum = 0;
    for (std::size_t k = first; k < first + 3; ++k) {
      std::uint32_t value = warp.bits(lane, o[k]);
      if (o[k].inverted || o[k].negative) value = ~value;
      sum += value;
      if (o[k].negative && !extended) ++sum;
    }
    for (std::size_t k = first + 3; extended && k < o.size(); ++k) {
      sum += warp.predicate(lane, o[k]) ? 1 : 0;
    }
    warp.set(lane, o[0], static_cast<std::uint32_t>(sum));
    for (std::size_t k = 1; k < first; ++k) warp.set_predicate(lane, o[k], sum >> 32U >= k);
  });
}

void add_two(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    warp.set(lane, o[0], warp.integer(lane, o[1]) + warp.integer(lane, o[2]));
  });
}

/// VIMNMX, VIADDMNMX: the lower of two where the predicate holds, else the larger; the first may be
/// a sum.
void choose(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const std::size_t second = in.name == "VIADDMNMX" ? 3 : 2;
  each_lane(on, [&](int lane) {
    std::uint32_t a = warp.integer(lane, o[1]);
    if (second == 3) a += warp.integer(lane, o[2]);
    const std::uint32_t b = warp.integer(lane, o[second]);
    const bool less = in.has("U32") ? a < b : as_signed(a) < as_signed(b);
    warp.set(lane, o[0], less == warp.predicate(lane, o[second + 1]) ? a : b);
  });
}

/// The number of `table` that three bits name.
bool looked_up(std::uint32_t table, bool a, bool b, bool c) {
  return (table >> ((a ? 4U : 0U) | (b ? 2U : 0U) | (c ? 1U : 0U)) & 1U) != 0;
}

/// LOP3.LUT: any function of three bits, for each bit.
void combine_bits(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const std::size_t to = o[0].is_predicate() ? 1 : 0;
  each_lane(on, [&](int lane) {
    const std::uint32_t a = warp.integer(lane, o[to + 1]);
    const std::uint32_t b = warp.integer(lane, o[to + 2]);
    const std::uint32_t c = warp.integer(lane, o[to + 3]);
    std::uint32_t result = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      const std::uint32_t mask = 1U << bit;
      if (looked_up(o[to + 4].value, (a & mask) != 0, (b & mask) != 0, (c & mask) != 0)) {
        result |= mask;
      }
    }
    warp.set(lane, o[to], result);
    if (to == 1) warp.set_predicate(lane, o[0], result != 0);
  });
}

/// PLOP3.LUT: two functions of three predicates.
void combine_predicates(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    const bool a = warp.predicate(lane, o[2]);
    const bool b = warp.predicate(lane, o[3]);
    const bool c = warp.predicate(lane, o[4]);
    warp.set_predicate(lane, o[0], looked_up(o[5].value, a, b, c));
    warp.set_predicate(lane, o[1], looked_up(o[6].value, a, b, c));
  });
}

/// ISETP; EX: of upper words, where those are equal a predicate has what the lower ones say.
void compare(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const unsigned wanted = wanted_relation(in);
  each_lane(on, [&](int lane) {
    const std::uint32_t a = warp.integer(lane, o[2]);
    const std::uint32_t b = warp.integer(lane, o[3]);
    const unsigned found = in.has("U32") ? relation(a, b) : relation(as_signed(a), as_signed(b));
    const bool lower = in.has("EX") && found == kEqual;
    const bool result = lower ? warp.predicate(lane, o[5]) : (found & wanted) != 0;
    set_comparison(warp, in, lane, result, warp.predicate(lane, o[4]));
  });
}

/// LEA: (a << s) + b; HI: the upper half of a 64-bit a, whose upper word is c or a's sign (SX32);
/// X: with a carry.
void scaled_add(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const bool carries = o[1].is_predicate();
  const std::size_t first = carries ? 2 : 1;
  const bool upper = in.has("HI");
  const bool extends = in.has("SX32");
  const std::size_t shift = first + (upper && !extends ? 3 : 2);
  each_lane(on, [&](int lane) {
    const std::uint32_t low = warp.integer(lane, o[first]);
    std::uint64_t scaled = 0;
    if (upper) {
      const std::uint64_t value =
          extends ? static_cast<std::uint64_t>(as_signed(low))
                  : std::uint64_t{warp.integer(lane, o[first + 2])} << 32U | low;
      scaled = (value << (o[shift].value & 31U)) >> 32U;
    } else {
      scaled = static_cast<std::uint32_t>(low << (o[shift].value & 31U));
    }
    std::uint64_t sum = scaled + warp.integer(lane, o[first + 1]);
    if (in.has("X")) sum += warp.predicate(lane, o[shift + 1]) ? 1 : 0;
    warp.set(lane, o[0], static_cast<std::uint32_t>(sum));
    if (carries) warp.set_predicate(lane, o[1], sum >> 32U != 0);
  });
}

/// SHF: the pair (high, low) shifted; HI: its upper half, otherwise its lower one. W: by what is
/// left of the number of places without whole words.
void shift(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const bool upper = in.has("HI");
  const bool wide = in.has("U64") || in.has("S64");
  const bool is_signed = in.has("S32") || in.has("S64");
  const std::uint32_t most = wide ? 63U : 32U;
  const std::uint32_t within = wide ? 63U : 31U;
  each_lane(on, [&](int lane) {
    const std::uint32_t low = warp.integer(lane, o[1]);
    const std::uint32_t high = warp.integer(lane, o[3]);
    const std::uint64_t both = std::uint64_t{high} << 32U | low;
    const std::uint32_t places = warp.integer(lane, o[2]);
    const std::uint32_t by = in.has("W") ? places & within : std::min(places, most);
    std::uint64_t result = 0;
    if (in.has("L")) {
      result = upper ? both << by >> 32U : both << by;
    } else if (is_signed) {
      result = static_cast<std::uint64_t>(static_cast<std::int64_t>(both) >> by);
      if (upper) result >>= 32U;
    } else {
      result = upper ? (both >> by) >> 32U : both >> by;
    }
    warp.set(lane, o[0], static_cast<std::uint32_t>(result));
  });
}

/// PRMT: four of the eight bytes of two words, or their signs.
void permute_bytes(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    const std::uint64_t both = std::uint64_t{warp.bits(lane, o[3])} << 32U | warp.bits(lane, o[1]);
    const std::uint32_t selection = warp.integer(lane, o[2]);
    std::uint32_t result = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      const std::uint32_t which = selection >> (4U * byte) & 15U;
      auto value = static_cast<std::uint32_t>(both >> (8U * (which & 7U)) & 255U);
      if ((which & 8U) != 0) value = (value & 128U) != 0 ? 255U : 0U;
      result |= value << (8U * byte);
    }
    warp.set(lane, o[0], result);
  });
}

/// SGXT: the sign of a word's lower bits, as many as named, into the others.
void extend_sign(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const std::uint32_t bits = o[2].value;
  if (!in.modifiers.empty() || o[2].kind != Operand::Kind::immediate || bits < 1 || bits > 32) {
    throw Stuck("unknown form", in);
  }
  each_lane(on, [&](int lane) {
    const auto shifted = static_cast<std::int32_t>(warp.integer(lane, o[1]) << (32U - bits));
    warp.set(lane, o[0], static_cast<std::uint32_t>(shifted >> (32U - bits)));
  });
}

void count_bits(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    const int count = std::popcount(warp.integer(lane, o[1]));
    warp.set(lane, o[0], static_cast<std::uint32_t>(count));
  });
}

/// FLO: place of the highest bit, -1 where there is none.
void find_highest_bit(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  if (!in.has("U32")) throw Stuck("unknown form", in);
  each_lane(on, [&](int lane) {
    const int place = 31 - std::countl_zero(warp.integer(lane, o[1]));
    warp.set(lane, o[0], static_cast<std::uint32_t>(place));
  });
}

/// P2R: predicates into some bits of a word.
void pack_predicates(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const std::uint32_t mask = o[3].value;
  each_lane(on, [&](int lane) {
    warp.set(lane, o[0], (warp.bits(lane, o[2]) & ~mask) | (warp.predicates(lane) & mask));
  });
}

}  // namespace

const Instructions& integer_instructions() {
  static const Instructions known{{"MOV", move},
                                  {"UMOV", move},
                                  {"SEL", select},
                                  {"USEL", select},
                                  {"IMAD", multiply_add},
                                  {"UIMAD", multiply_add},
                                  {"IADD3", add_three},
                                  {"UIADD3", add_three},
                                  {"VIADD", add_two},
                                  {"VIMNMX", choose},
                                  {"VIADDMNMX", choose},
                                  {"LOP3", combine_bits},
                                  {"ULOP3", combine_bits},
                                  {"PLOP3", combine_predicates},
                                  {"UPLOP3", combine_predicates},
                                  {"ISETP", compare},
                                  {"UISETP", compare},
                                  {"LEA", scaled_add},
                                  {"ULEA", scaled_add},
                                  {"SHF", shift},
                                  {"USHF", shift},
                                  {"PRMT", permute_bytes},
                                  {"UPRMT", permute_bytes},
                                  {"SGXT", extend_sign},
                                  {"POPC", count_bits},
                                  {"UPOPC", count_bits},
                                  {"FLO", find_highest_bit},
                                  {"UFLO", find_highest_bit},
                                  {"P2R", pack_predicates}};
  return known;
}

}  // namespace carom::warp_slots
