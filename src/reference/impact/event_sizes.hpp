#pragma once

/// Constants of docs/explanation/enclosure.md: relative sizes that count as zero, and
/// numbers of events.
namespace carom::reference::event_sizes {

inline constexpr double kRounding = 1e-13;
inline constexpr double kMet = 1e-12;
inline constexpr double kVanishing = 1e-11;
inline constexpr double kTogether = 1e-12;
inline constexpr double kSameShape = 1e-8;
inline constexpr double kSameRounding = 1e-13;
inline constexpr double kSlowest = 0.999;
inline constexpr double kSettled = 1e-11;
inline constexpr int kMostPieces = 4096;
inline constexpr int kMostBounces = 16384;
inline constexpr int kMostRedrawn = 512;
inline constexpr int kCyclesFrom = 24;
inline constexpr int kPolicyCycles = 4;
inline constexpr int kPiecesOfLength = 256;
inline constexpr int kMostDoublings = 15;
inline constexpr int kPolicyEvents = 32;
inline constexpr double kHalvings = 12.0;
inline constexpr double kHalvingsOfStores = 6.0;

}  // namespace carom::reference::event_sizes
