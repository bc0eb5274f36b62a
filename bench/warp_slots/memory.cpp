#include <algorithm>
#include <array>

#include "instructions.hpp"

namespace carom::warp_slots {

namespace {

int access_bytes(const Instruction& in) {
  if (in.has("128")) return 16;
  if (in.has("64")) return 8;
  if (in.has("U16") || in.has("S16")) return 2;
  if (in.has("U8") || in.has("S8")) return 1;
  return 4;
}

/// Loads or stores; a signed part of a word brings its sign.
void access(Warp& warp, const Instruction& in, int lane, const Operand& value, std::uint8_t* place,
            int bytes) {
  if (in.name[0] == 'S') return warp.store(lane, value, place, bytes);
  warp.load(lane, value, place, bytes);
  const std::uint32_t loaded = warp.bits(lane, value);
  if (in.has("S16")) {
    warp.set(lane, value, static_cast<std::uint32_t>(static_cast<std::int16_t>(loaded)));
  } else if (in.has("S8")) {
    warp.set(lane, value, static_cast<std::uint32_t>(static_cast<std::int8_t>(loaded)));
  }
}

using Addresses = std::array<std::uint32_t, kLanes>;

/// Passes of a shared access: 8 bytes a lane go half a warp at a time, 16 bytes a quarter, each
/// again for every further word that lies in one of the 32 banks. A device may join halves that
/// read the same words; that is not counted.
std::uint64_t wavefronts(const Addresses& addresses, Mask on, int bytes) {
  const int together = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  std::uint64_t passes = 0;
  for (int begin = 0; begin < kLanes; begin += together) {
    std::array<std::set<std::uint32_t>, 32> banks;
    const Mask part = on >> begin & (together == 32 ? kAllLanes : (Mask{1} << together) - 1);
    each_lane(part, [&](int lane) {
      const int own = begin + lane;
      const std::uint32_t address = addresses[static_cast<std::size_t>(own)];
      for (int byte = 0; byte < bytes; byte += 4) {
        const std::uint32_t word = (address + static_cast<std::uint32_t>(byte)) / 4;
        banks[word % 32].insert(word);
      }
    });
    std::size_t most = 0;
    for (const auto& bank : banks) most = std::max(most, bank.size());
    passes += most;
  }
  return passes;
}

/// What an instruction of a load's or a store's form names.
struct Access {
  explicit Access(const Instruction& in)
      : bytes(access_bytes(in)),
        at(in.operands[in.name[0] == 'S' ? 0 : 1]),
        value(in.operands[in.name[0] == 'S' ? 1 : 0]) {}
  int bytes;
  const Operand& at;
  const Operand& value;
};

void access_shared(Warp& warp, const Instruction& in, Mask on, const Addresses& addresses) {
  const Access what(in);
  each_lane(on, [&](int lane) {
    std::uint8_t* place = warp.shared(addresses[static_cast<std::size_t>(lane)], what.bytes, in);
    access(warp, in, lane, what.value, place, what.bytes);
  });
  ++warp.traffic.shared_accesses;
  warp.traffic.shared_wavefronts += wavefronts(addresses, on, what.bytes);
}

void access_local(Warp& warp, const Instruction& in, Mask on, const Addresses& addresses) {
  const Access what(in);
  each_lane(on, [&](int lane) {
    const std::uint32_t address = addresses[static_cast<std::size_t>(lane)];
    access(warp, in, lane, what.value, warp.local(lane, address, what.bytes, in), what.bytes);
  });
  ++warp.traffic.local_accesses;
}

void global_access(Warp& warp, const Instruction& in, Mask on) {
  const Access what(in);
  std::set<std::uint64_t> sectors;
  each_lane(on, [&](int lane) {
    const std::uint64_t address = warp.global_address(lane, what.at);
    for (std::uint64_t byte = 0; byte < static_cast<std::uint64_t>(what.bytes); byte += 4) {
      sectors.insert((address + byte) / 32);
    }
    auto* place = std::bit_cast<std::uint8_t*>(address);
    access(warp, in, lane, what.value, place, what.bytes);
  });
  warp.traffic.sectors += sectors.size();
  warp.traffic.touched.insert(sectors.begin(), sectors.end());
}

template <class Enter>
void short_access(Warp& warp, const Instruction& in, Mask on, Enter&& enter) {
  const Access what(in);
  Addresses addresses{};
  each_lane(on, [&](int lane) {
    addresses[static_cast<std::size_t>(lane)] = warp.short_address(lane, what.at);
  });
  enter(warp, in, on, addresses);
}
void shared_access(Warp& warp, const Instruction& in, Mask on) {
  short_access(warp, in, on, access_shared);
}
void local_access(Warp& warp, const Instruction& in, Mask on) {
  short_access(warp, in, on, access_local);
}

/// LD, ST: each lane to the memory that its address lies in.
void generic_access(Warp& warp, const Instruction& in, Mask on) {
  const Access what(in);
  Addresses addresses{};
  Mask shared = 0;
  Mask local = 0;
  each_lane(on, [&](int lane) {
    const std::uint64_t address = warp.global_address(lane, what.at);
    const Mask bit = Mask{1} << static_cast<unsigned>(lane);
    addresses[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(address);
    if ((address & Warp::kSharedBase) != 0) shared |= bit;
    if ((address & Warp::kLocalBase) != 0) local |= bit;
  });
  if (shared != 0) access_shared(warp, in, shared, addresses);
  if (local != 0) access_local(warp, in, local, addresses);
  if (const Mask rest = on & ~shared & ~local; rest != 0) global_access(warp, in, rest);
}

/// ATOMG.ADD: the old value, and the sum in its place.
void atomic_add(Warp& warp, const Instruction& in, Mask on) {
  if (!in.has("ADD") || in.has("64") || in.has("F32") || in.has("F64")) {
    throw Stuck("unknown form", in);
  }
  const auto& o = in.operands;
  each_lane(on, [&](int lane) {
    auto* place = std::bit_cast<std::uint32_t*>(warp.global_address(lane, o[2]));
    const std::uint32_t more = warp.bits(lane, o[3]);
    warp.set(lane, o[1], *place);
    *place += more;
  });
}

void load_constant(Warp& warp, const Instruction& in, Mask on) {
  const auto& o = in.operands;
  const int bytes = access_bytes(in);
  if (in.has("S8") || in.has("S16")) throw Stuck("unknown form", in);
  each_lane(on, [&](int lane) {
    std::array<std::uint8_t, 16> value{};
    warp.read_constant(lane, o[1], value.data(), bytes);
    warp.load(lane, o[0], value.data(), bytes);
  });
}

}  // namespace

const Instructions& memory_instructions() {
  static const Instructions known{
      {"LDS", shared_access}, {"STS", shared_access}, {"LDG", global_access},
      {"STG", global_access}, {"LDL", local_access},  {"STL", local_access},
      {"LD", generic_access}, {"ST", generic_access}, {"ATOMG", atomic_add},
      {"LDC", load_constant}, {"ULDC", load_constant}};
  return known;
}

}  // namespace carom::warp_slots
