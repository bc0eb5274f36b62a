#include "warp.hpp"

#include <cmath>
#include <cstdio>

namespace carom::warp_slots {

using Kind = Operand::Kind;

namespace {

std::string in_hexadecimal(int value) {
  char text[16];
  std::snprintf(text, sizeof text, "%x", static_cast<unsigned>(value));
  return text;
}

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

Stuck::Stuck(const std::string& why, const Instruction& in)
    : std::runtime_error(why + ": " + in.text + " at 0x" + in_hexadecimal(in.address)) {}

void Warp::begin(int block) {
  block_ = block;
  for (auto& lane : words_) lane.fill(0);
  for (auto& lane : predicates_) lane.fill(false);
  uniforms_.fill(0);
  uniform_predicates_.fill(false);
}

std::uint32_t Warp::word(int lane, const Operand& from, int further) const {
  if (from.index == kZeroRegister) return 0;
  if (from.kind == Kind::word) return words_[at(lane)][at(from.index + further)];
  if (from.kind == Kind::uniform) return uniforms_[at(from.index + further)];
  throw Stuck("no register: " + from.text);
}

std::uint32_t Warp::bits(int lane, const Operand& from) const {
  if (from.kind == Kind::immediate) return from.value;
  if (from.kind == Kind::constant) {
    std::uint32_t value = 0;
    read_constant(lane, from, &value, sizeof value);
    return value;
  }
  return word(lane, from, 0);
}

std::uint32_t Warp::integer(int lane, const Operand& from) const {
  std::uint32_t value = bits(lane, from);
  if (from.absolute && static_cast<std::int32_t>(value) < 0) value = -value;
  if (from.inverted) value = ~value;
  return from.negative ? -value : value;
}

std::uint64_t Warp::pair(int lane, const Operand& from) const {
  if (from.kind == Kind::constant) {
    std::uint64_t value = 0;
    read_constant(lane, from, &value, sizeof value);
    return value;
  }
  if (from.kind == Kind::immediate) {  // signed
    return static_cast<std::uint64_t>(
        static_cast<std::int64_t>(static_cast<std::int32_t>(from.value)));
  }
  return std::uint64_t{word(lane, from, 1)} << 32U | word(lane, from, 0);
}

double Warp::real(int lane, const Operand& from) const {
  double value = std::bit_cast<double>(
      from.kind == Kind::immediate ? std::uint64_t{from.value} << 32U : pair(lane, from));
  if (from.absolute) value = std::fabs(value);
  return from.negative ? -value : value;
}

float Warp::single(int lane, const Operand& from) const {
  float value = std::bit_cast<float>(bits(lane, from));
  if (from.absolute) value = std::fabs(value);
  return from.negative ? -value : value;
}

bool Warp::predicate(int lane, const Operand& from) const {
  const auto& all =
      from.kind == Kind::uniform_predicate ? uniform_predicates_ : predicates_[at(lane)];
  if (!from.is_predicate()) throw Stuck("no predicate: " + from.text);
  return (from.index == kTrue || all[at(from.index)]) != from.inverted;
}

Mask Warp::where(Mask among, const Operand& from) const {
  Mask mask = 0;
  each_lane(among, [&](int lane) {
    if (predicate(lane, from)) mask |= Mask{1} << static_cast<unsigned>(lane);
  });
  return mask;
}

std::uint32_t Warp::predicates(int lane) const {
  std::uint32_t mask = 0;
  for (unsigned p = 0; p < kTrue; ++p) {
    if (predicates_[at(lane)][p]) mask |= 1U << p;
  }
  return mask;
}

void Warp::set_word(int lane, const Operand& to, int further, std::uint32_t value) {
  if (to.index == kZeroRegister) return;
  if (to.kind == Kind::word) {
    words_[at(lane)][at(to.index + further)] = value;
  } else if (to.kind == Kind::uniform) {
    uniforms_[at(to.index + further)] = value;
  } else {
    throw Stuck("no register: " + to.text);
  }
}

void Warp::set_pair(int lane, const Operand& to, std::uint64_t value) {
  set_word(lane, to, 0, static_cast<std::uint32_t>(value));
  set_word(lane, to, 1, static_cast<std::uint32_t>(value >> 32U));
}

void Warp::set_predicate(int lane, const Operand& to, bool value) {
  if (!to.is_predicate()) throw Stuck("no predicate: " + to.text);
  if (to.index == kTrue) return;
  auto& all = to.kind == Kind::uniform_predicate ? uniform_predicates_ : predicates_[at(lane)];
  all[at(to.index)] = value;
}

void Warp::read_constant(int lane, const Operand& from, void* to, int bytes) const {
  const int index =
      from.index == kZeroRegister ? 0 : static_cast<int>(words_[at(lane)][at(from.index)]);
  const int added = from.added == kZeroRegister ? 0 : static_cast<int>(uniforms_[at(from.added)]);
  const int begin = from.offset + index + added;
  if (begin < 0 || at(begin + bytes) > constants_.size()) {
    throw Stuck("outside of the constants: " + from.text);
  }
  std::memcpy(to, &constants_[at(begin)], at(bytes));
}

std::uint32_t Warp::short_address(int lane, const Operand& operand) const {
  const std::uint32_t base =
      operand.index == kZeroRegister ? 0 : words_[at(lane)][at(operand.index)];
  const std::uint32_t added = operand.added == kZeroRegister ? 0 : uniforms_[at(operand.added)];
  return base + added + static_cast<std::uint32_t>(operand.offset);
}

std::uint64_t Warp::global_address(int lane, const Operand& operand) const {
  const auto joined = [](std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{high} << 32U | low;
  };
  std::uint64_t address = static_cast<std::uint64_t>(std::int64_t{operand.offset});
  if (operand.index != kZeroRegister) {
    const auto& words = words_[at(lane)];
    address += joined(words[at(operand.index)], words[at(operand.index + 1)]);
  }
  if (operand.added != kZeroRegister) {
    address += joined(uniforms_[at(operand.added)], uniforms_[at(operand.added + 1)]);
  }
  return address;
}

std::uint8_t* Warp::shared(std::uint32_t address, int bytes, const Instruction& in) {
  if (address < kSharedBegin || address - kSharedBegin + at(bytes) > shared_.size()) {
    throw Stuck("outside of shared memory", in);
  }
  if (address % static_cast<unsigned>(bytes) != 0) throw Stuck("misaligned", in);
  return &shared_[address - kSharedBegin];
}

std::uint8_t* Warp::local(int lane, std::uint32_t address, int bytes, const Instruction& in) {
  auto& memory = local_[at(lane)];
  if (memory.empty()) memory.resize(kLocalBytes);
  if (address + at(bytes) > memory.size()) throw Stuck("outside of local memory", in);
  return &memory[address];
}

void Warp::load(int lane, const Operand& to, const std::uint8_t* from, int bytes) {
  for (int read = 0; read < bytes; read += 4) {
    std::uint32_t value = 0;
    std::memcpy(&value, from + read, at(std::min(bytes, 4)));
    set_word(lane, to, read / 4, value);
  }
}

void Warp::store(int lane, const Operand& from, std::uint8_t* to, int bytes) const {
  for (int written = 0; written < bytes; written += 4) {
    const std::uint32_t value = word(lane, from, written / 4);
    std::memcpy(to + written, &value, at(std::min(bytes, 4)));
  }
}

}  // namespace carom::warp_slots
