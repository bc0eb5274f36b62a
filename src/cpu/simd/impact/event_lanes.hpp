#pragma once

#include <cstdint>
#include <cstring>

#include <carom/certificate.hpp>

#include "cpu/simd/impact/event_ranges.hpp"
#include "cpu/simd/impact/pack_trajectories.hpp"
#include "cpu/simd/spread.hpp"
#include "impact/kernels/event_piece.hpp"
#include "impact/kernels/event_series.hpp"
#include "impact/kernels/planar_stores.hpp"

/// Packs of planar trajectories that are followed from event to event: each lane of a register
/// follows a sample of its own, by the text of events.hpp, and takes the next one as soon as
/// it is done.
namespace carom::cpu::simd {

/// Restitution of a problem, and what packs write of it for each trajectory, [count, m] each.
struct StoreRows {
  const kernels::RestitutionView* view;  ///< null: inelastic
  double *restitution, *stored, *released, *lost_compression, *lost_friction;
};

/// The samples that lanes take next, with their policies and, of M > 0 contacts, restitution.
template <class Isa, int M>
class EventSupply {
  static_assert(M <= 2);  // contacts of one draw
  using Pack = typename Isa::Pack;
  static constexpr int kWidth = Isa::kWidth;

 public:
  struct Sample {
    int position;
    double policy;
    bool wanted;
  };

  /// Positions [first, job.count).
  EventSupply(const PackJob& job, int first, const kernels::RestitutionView* view)
      : job_(job), view_(view), next_(first), drawn_to_(first) {}

  [[nodiscard]] CAROM_INLINE bool empty() const { return next_ == job_.count; }

  /// Of contact i in the sample taken last.
  [[nodiscard]] CAROM_INLINE double restitution(int i) const {
    return restitution_[i][next_ - 1 - (drawn_to_ - kWidth)];
  }

  CAROM_INLINE Sample take() {
    if (next_ == drawn_to_) draw();
    const int ahead = next_ - (drawn_to_ - kWidth);
    return {next_++, policy_[ahead], (wanted_ >> ahead & 1U) != 0U};
  }

 private:
  /// EventWeights::begin of the next samples.
  __attribute__((noinline)) void draw() {
    alignas(64) std::uint64_t sample[kWidth], block[kWidth] = {};
    for (int lane = 0; lane < kWidth; ++lane) {
      sample[lane] = job_.first + static_cast<std::uint64_t>(next_ + lane);
    }
    Pack first, second;
    Isa::uniform_pairs(job_.run->seed, job_.index, sample, block, first, second);
    rounded_down(second * Pack(4294967296.0)).store(policy_);
    wanted_ = (first < Pack(0.5)).bits();
    if constexpr (M > 0) {
      Pack number[2];
      constexpr auto kBlock = kMaterialDraws / 2;
      const typename Isa::Words place(Pack(static_cast<double>(kBlock)));
      Isa::uniform_pairs(job_.run->seed, job_.index, sample, place, number[0], number[1]);
      for (int i = 0; i < M; ++i) {
        kernels::planar_draw(view_->restitution_low[i], view_->restitution_high[i], number[i])
            .store(restitution_[i]);
      }
    }
    drawn_to_ = next_ + kWidth;
  }

  const PackJob& job_;
  const kernels::RestitutionView* view_;
  int next_;
  int drawn_to_;  ///< position that the drawn policies end before
  unsigned wanted_ = 0;
  alignas(64) double policy_[kWidth];
  alignas(64) double restitution_[M + (M > 0 ? 0 : 1)][kWidth];
};

/// One pack. Stored: with restitution.
template <class Isa, int M, bool Stored>
class EventLanes {
  using Pack = typename Isa::Pack;
  using Mask = typename Isa::Mask;
  using Supply = EventSupply<Isa, Stored ? M : 0>;
  using Stores =
      std::conditional_t<Stored, kernels::PlanarStores<Pack, Mask, M, kMaxPackVelocities>,
                         kernels::NoStores>;
  using Words = typename Isa::Words;
  using Rules = kernels::EventRules;
  using Table = kernels::EventTable<Isa, M>;
  static constexpr int kWidth = Isa::kWidth;
  static constexpr int kRows = 2 * M;
  static constexpr int kModeSize = 2 * M * kRows;
  static constexpr int kPairs = (M + 1) / 2;  // of draws for weights
  static constexpr unsigned kAll = (1U << kWidth) - 1U;
  static constexpr std::uint32_t kOpen = 32;  // in a zone; above the bits of EventFace::only
  static constexpr double kTwo52 = 0x1.0p52;  // makes a whole number a double's low bits

 public:
  EventLanes(const PackJob& job, const Table& table, EventFace* faces,
             const kernels::EventSizes& sizes, Supply& supply, const StoreRows& rows)
      : job_(job),
        problem_(*job.problem),
        run_(*job.run),
        ranges_(table, job.problem->friction, faces),
        modes_(table.modes()),
        sizes_(sizes),
        supply_(supply),
        rows_(rows),
        stores_(stores_of(job)),
        nv_(job.run->velocities) {
    const Pack none(0.0);
    for (int k = 0; k < kRows; ++k) u_[k] = total_[k] = none;
    for (int i = 0; i < M; ++i) weight_[i] = drawn_[i] = none;
    start(kAll);
  }

  [[nodiscard]] CAROM_INLINE bool active() const { return active_ != 0U; }

  /// kernels::event_state.
  CAROM_INLINE void states() {
    const Pack none(0.0), one(1.0), two(2.0), four(4.0);
    for (int i = 0; i < M; ++i) {
      const Pack normal = u_[i], tangent = u_[M + i];
      const Pack slip = select(tangent > none, two, select(tangent < none, none, one));
      if constexpr (Stored) {
        const Mask filled = stores_.filled(i);
        const Mask able = filled | (normal <= none), pushes = filled | (normal < none);
        state_[i] = select(able, select(pushes, four, one) + slip, none);
        const Pack known = select(normal > none, Pack(10.0), Pack(7.0)) + slip;
        code_[i] = select(filled, known, state_[i]);
      } else {
        state_[i] = select(normal > none, none, select(normal < none, four, one) + slip);
      }
    }
  }

  /// EventWeights::draw where a stretch begins.
  CAROM_INLINE void draw() {
    const Pack none(0.0);
    const Mask wants = mask(active_) & !(left_ > none);
    const unsigned begins = wants.bits();
    if (begins == 0U) return;
    Pack draws[2 + kPairs][2];
    for (int b = 0; b < 2 + kPairs; ++b) {
      Isa::uniform_pairs(run_.seed, job_.index, sample_, Words(block_ + Pack(b)), draws[b][0],
                         draws[b][1]);
    }
    block_ = select(wants, block_ + Pack(2 + kPairs), block_);
    const Pack *kind = draws[0], *choice = draws[1];
    Pack weight[M], most(0.0), sum(0.0);
    for (int i = 0; i < M; ++i) weight[i] = corner(draws[2 + i / 2][i % 2]);
    for (int i = 0; i < M; ++i) most = larger(most, weight[i]);
    const Pack which = kind[0] * Pack(3.0) * Pack(M);
    const Mask alone = which < Pack(M);
    for (int i = 0; i < M; ++i) {
      const Mask here = (which >= Pack(i)) & (which < Pack(i + 1));
      weight[i] = select(alone, select(here, most, none), weight[i]);
      weight[i] =
          select(weight[i] < Pack(kernels::EventWeights<M>::kLeast) * most, none, weight[i]);
      sum = select(pushes(i), sum + weight[i], sum);
    }
    const Mask idle = !(sum > none);
    const Pack instead = select(most > none, most, Pack(1.0));
    sum = none;
    for (int i = 0; i < M; ++i) {
      weight[i] = select(idle & pushes(i), instead, weight[i]);
      sum = sum + weight[i];
    }
    for (int i = 0; i < M; ++i) {
      weight_[i] = drawn_[i] = select(wants, weight[i] / sum, drawn_[i]);
    }
    first_ =
        select(wants, rounded_down(choice[1] * Pack(kernels::EventWeights<M>::kFirst)), first_);
    if constexpr (Stored) {
      constexpr double kShare = 1.0 / kernels::EventWeights<M>::kHoldOfFirst;
      holds_ = select(wants, rounded_down(first_ * Pack(kShare)), holds_);
    }
    using Weights = kernels::EventWeights<M>;
    constexpr double kMostHalvings = Stored ? Weights::kHalvingsOfStores : Weights::kHalvings;
    Pack halvings = rounded_down(choice[0] * Pack(kMostHalvings)), scale(4.0);
    for (const int power : {8, 4, 2, 1}) {
      const Mask some = halvings >= Pack(power);
      halvings = select(some, halvings - Pack(power), halvings);
      scale = select(some, scale * Pack(1.0 / (1 << power)), scale);
    }
    const Mask follows = wants & wanted_ & !spoiled_;
    const Pack longest = this->longest();
    Pack length = longest * scale * (Pack(0.5) + kind[1]);
    length = select(follows & (kind[1] < Pack(0.75)), Pack(64.0) * longest, length);
    left_ = select(wants, length, left_);
    follows_ = (follows_ & !wants) | follows;
    spoiled_ = spoiled_ & !wants;
    events_ = select(wants, none, events_);
    for (unsigned rest = begins & cycling_; rest != 0U; rest &= rest - 1U) {
      series_[kernels::lowest_bit(rest)].begin();
    }
    cycling_ &= ~begins;
  }

  /// EventWeights::choose where a policy is followed.
  CAROM_INLINE void choose() {
    if (!any_of(follows_)) return;
    const Pack none(0.0), one(1.0);
    Words x(Pack::load(policy_));
    Mask able[M];
    Pack count(0.0);
    for (int i = 0; i < M; ++i) {
      x = (x ^ Words(Stored ? code_[i] : state_[i])) * 0x9E3779B9U;
      x = x ^ (x >> 15);
      able[i] = this->able(i);
      count = select(able[i], count + one, count);
    }
    x = x * 0x85EBCA6BU;
    x = x ^ (x >> 13);
    x = x * 0xC2B2AE35U;
    x = x ^ (x >> 16);
    const Pack number = x.number(), ways = count + one;
    if constexpr (Stored) {
      constexpr double kShare = 1.0 / kernels::EventWeights<M>::kHoldOfPolicy;
      holds_ = select(follows_, rounded_down(number * Pack(kShare)), holds_);
    }
    Pack share(1.0);
    for (int n = 2; n <= M + 1; ++n) share = select(ways >= Pack(n), Pack(1.0 / n), share);
    // The quotient of whole numbers is no closer to the next one than 0.5 / ways.
    const Pack pick = number - ways * rounded_down((number + Pack(0.5)) * share);
    const Mask all = pick >= count;
    Pack at(0.0);
    for (int i = 0; i < M; ++i) {
      const Mask here = able[i] & !(at != pick);
      const Pack weight = select(all, drawn_[i], select(here, one, none));
      weight_[i] = select(follows_, weight, weight_[i]);
      at = select(able[i], at + one, at);
    }
  }

  /// EventTrajectory's pushers that are held at u = 0 while the other contact pushes.
  CAROM_INLINE void hold() {
    if constexpr (Stored && M == 2) {
      const Pack none(0.0), three(3.0), half(0.5);
      const Mask first = fraction(holds_ * half) > none;
      const Mask second = fraction(rounded_down(holds_ * half) * half) > none;
      const Mask rests[] = {first & stores_.filled(0) & !(u_[0] != none),
                            second & stores_.filled(1) & !(u_[1] != none)};
      for (int i = 0; i < M; ++i) {
        const Mask other = pushes(1 - i) & !rests[1 - i] & (weight_[1 - i] > none);
        state_[i] = select(rests[i] & other, state_[i] - three, state_[i]);
      }
    }
  }

  /// Impulses and rates of the first mode that holds; `moves_`: lanes that have one. Those for
  /// which only rounding tells go to `open_`.
  CAROM_INLINE void find() {
    alignas(64) double face_of[kWidth], ratio_of[kWidth], first_of[kWidth];
    Pack face = state_[M - 1];
    for (int i = M - 1; i-- > 0;) face = fused(Pack(kernels::kEventChoices), face, state_[i]);
    (face + Pack(kTwo52)).store(face_of);
    (first_ + Pack(kTwo52)).store(first_of);
    if constexpr (M == 2) smaller(weight_[0] / weight_[1], Pack(EventFace::kAlone)).store(ratio_of);
    const double* from[kWidth];
    std::uint64_t tells = 0;  // EventFace::only of each lane, a byte a lane, and kOpen
    for (bool known = false; !known;) {
      tells = 0;
#pragma GCC unroll 8
      for (int lane = 0; lane < kWidth; ++lane) {
        const EventFace& own = ranges_.face(whole(face_of + lane));
        unsigned above = 0, within = 0;
        zones(own, ratio_of + lane, above, within);
        const std::uint32_t entry = own.only[__builtin_ctz(~above)];
        from[lane] = modes_ + (entry >> 8) * kModeSize;
        const std::uint32_t open = above != within ? kOpen : 0;
        tells |= std::uint64_t{(entry & 0xffU) | open} << (8 * lane);
      }
      known = lanes_where(tells, EventFace::kKnown) == kAll;
      for (int lane = 0; lane < kWidth && !known; ++lane) ranges_.look_at(whole(face_of + lane));
    }
    std::uint64_t sticking = tells;
    const unsigned several = lanes_where(tells, EventFace::kSeveral) & active_;
    for (unsigned rest = several; rest != 0U; rest &= rest - 1U) {
      const int lane = kernels::lowest_bit(rest);
      const unsigned mode = first_that_holds(ranges_.face(whole(face_of + lane)), ratio_of + lane,
                                             whole(first_of + lane));
      from[lane] = modes_ + (mode >> 8) * kModeSize;
      sticking &= ~(std::uint64_t{EventFace::kSticks} << (8 * lane));
      sticking |= std::uint64_t{mode & EventFace::kSticks} << (8 * lane);
    }
    const unsigned open = lanes_where(tells, kOpen);
    open_ = open & active_;
    motion(from);
    const Pack none(0.0);
    for (int i = 0; i < M; ++i) {  // within their bounds, as event_holds leaves them
      const Mask pulls = impulse_[i] < none;
      const Pack normal = select(pulls, none, impulse_[i]);
      const Pack tangent = select(pulls, none, impulse_[M + i]);
      const Pack most = Pack(problem_.friction[i]) * normal;
      const Mask sticks = mask(lanes_where(sticking, 1U << i));
      impulse_[i] = normal;
      impulse_[M + i] = select(sticks, smaller(larger(tangent, -most), most), tangent);
    }
    moves_ = active_ & ~lanes_where(tells, EventFace::kNobody) & ~open;
  }

  /// One linear piece of lanes with a mode; another stretch for those without.
  CAROM_INLINE void follow() {
    const Pack none(0.0), one(1.0);
    const auto piece =
        kernels::event_piece<Pack, M>(problem_, u_, impulse_, rate_, left_, sizes_.speed, &stores_);
    const Mask without = mask(active_ & ~moves_);
    if constexpr (Stored) {
      moves_ &= ~stores_.idles(u_, impulse_, rate_, piece.length).bits();
    }
    const Mask moves = mask(moves_), stays = mask(active_ & ~moves_);
    if constexpr (Stored) {
      Pack impulse[kRows], next[kRows];
      for (int k = 0; k < kRows; ++k) {
        impulse[k] = select(moves, piece.length * impulse_[k], none);
        next[k] = select(moves, piece.next[k], u_[k]);
      }
      stores_.follow(moves, u_, next, impulse);
    }
    for (int k = 0; k < kRows; ++k) {
      u_[k] = select(moves, piece.next[k], u_[k]);
      total_[k] = select(moves, fused(piece.length, impulse_[k], total_[k]), total_[k]);
    }
    wrong_ = select(moves, larger(wrong_, piece.wrong), wrong_);
    gained_ = select(moves, larger(gained_, piece.gained), gained_);
    const Mask event = piece.key >= none;
    left_ = select(moves & event, left_ - piece.length, none);
    since_ = select(moves, since_ + piece.length, since_);
    events_ = select(moves, events_ + one, events_);
    if constexpr (Stored) {
      for (int k = 0; k < kRows; ++k) u_[k] = select(moves, stores_.rounded(k, u_[k]), u_[k]);
      Mask some = follows_;
      for (int i = 0; i < M; ++i) some = some | ((weight_[i] > none) & able(i));
      left_ = select(some, left_, none);
    } else {
      constexpr auto from = [](bool follows) {
        return Pack(kernels::EventSeries<M>::cycles_from(follows));
      };
      const Mask due = moves & event & (events_ > select(follows_, from(true), from(false)));
      if (const unsigned bits = due.bits(); bits != 0U) sum_series(bits, piece.key);
    }
    constexpr int kMost = (Stored ? 2 : 1) * Rules::kPolicyEvents;
    Mask spoils = moves & (events_ >= Pack(kMost));
    if constexpr (!Stored) spoils = spoils & follows_;
    left_ = select(spoils, none, left_);
    spoiled_ = spoiled_ | spoils | stays;
    redrawn_ = select(without, redrawn_ + one, redrawn_);
    steps_ = steps_ + one;
  }

  /// Writes out the lanes whose trajectory has ended and starts their next ones.
  CAROM_INLINE void finish() {
    const Pack none(0.0);
    Mask approaching = pushes(0);
    for (int i = 1; i < M; ++i) approaching = approaching | pushes(i);
    const unsigned collides = approaching.bits();
    constexpr int kMost = Stored ? Rules::kMostBounces : Rules::kMostPieces;
    const unsigned last = (steps_ >= Pack(kMost)).bits();
    const unsigned stuck = (redrawn_ > Pack(Rules::kMostRedrawn)).bits() & ~moves_;
    const unsigned ended = active_ & (~collides | last | stuck | open_);
    if (ended == 0U) return;
    alignas(64) double u[kRows][kWidth], total[kRows][kWidth], residual[kWidth], steps[kWidth];
    for (int k = 0; k < kRows; ++k) u_[k].store(u[k]), total_[k].store(total[k]);
    if constexpr (Stored) {
      stores_.missed(u_).store(residual);
      write_stores(ended);
    } else {
      kernels::event_residual(wrong_, gained_, sizes_.speed, problem_.energy).store(residual);
    }
    steps_.store(steps);
    for (unsigned rest = ended; rest != 0U; rest &= rest - 1U) {
      const int lane = kernels::lowest_bit(rest);
      const auto position = static_cast<long>(position_[lane]);
      for (int k = 0; k < kRows; ++k) {
        job_.contact_velocity[position * kRows + k] = u[k][lane];
        job_.impulse[position * kRows + k] = total[k][lane];
      }
      job_.residual[position] = residual[lane];
      job_.pivots[position] = pivots_[lane];
      job_.fallback[position] = 0;
      // what only rounding tells, and what fails, is another's
      const bool left_out = bit(open_ | stuck | (Stored ? collides : 0U), lane);
      job_.steps[position] = static_cast<std::int32_t>(steps[lane]);
      job_.status[position] =
          left_out ? kUnfinished
                   : static_cast<std::uint8_t>(bit(collides, lane) ? TrajectoryStatus::max_steps
                                                                   : TrajectoryStatus::terminated);
    }
    start(ended);
  }

 private:
  static CAROM_INLINE Stores stores_of(const PackJob& job) {
    if constexpr (Stored) {
      return Stores(*job.run, *job.problem);
    } else {
      return {};
    }
  }
  /// Contacts that approach or have a filled store; those, and those that touch.
  [[nodiscard]] CAROM_INLINE Mask pushes(int i) const {
    if constexpr (Stored) return stores_.filled(i) | (u_[i] < Pack(0.0));
    return u_[i] < Pack(0.0);
  }
  [[nodiscard]] CAROM_INLINE Mask able(int i) const {
    if constexpr (Stored) return stores_.filled(i) | (u_[i] <= Pack(0.0));
    return u_[i] <= Pack(0.0);
  }

  /// EventTrajectory's longest stretch after as many pieces as there have been.
  [[nodiscard]] CAROM_INLINE Pack longest() const {
    Pack length(sizes_.length);
    if constexpr (Stored) {
      constexpr double kOfLength = 1.0 / kernels::EventRules::kPiecesOfLength;
      Pack doublings = smaller(rounded_down(steps_ * Pack(kOfLength)),
                               Pack(kernels::EventRules::kMostDoublings));
      if (!any_of(doublings > Pack(0.0))) return length;
      for (const int power : {8, 4, 2, 1}) {
        const Mask some = doublings >= Pack(power);
        doublings = select(some, doublings - Pack(power), doublings);
        length = select(some, length * Pack(1 << power), length);
      }
    }
    return length;
  }

  void write_stores(unsigned lanes) const {
    alignas(64) double book[5][M][kWidth];
    for (int i = 0; i < M; ++i) {
      stores_.restitution(i).store(book[0][i]);
      stores_.stored(i).store(book[1][i]);
      stores_.released(i).store(book[2][i]);
      stores_.lost_compression(i).store(book[3][i]);
      stores_.lost_friction(i).store(book[4][i]);
    }
    double* const to[] = {rows_.restitution, rows_.stored, rows_.released, rows_.lost_compression,
                          rows_.lost_friction};
    for (; lanes != 0U; lanes &= lanes - 1U) {
      const int lane = kernels::lowest_bit(lanes);
      for (int b = 0; b < 5; ++b) {
        for (int i = 0; i < M; ++i) {
          to[b][static_cast<long>(position_[lane]) * M + i] = book[b][i][lane];
        }
      }
    }
  }

  static CAROM_INLINE bool bit(unsigned bits, int lane) { return ((bits >> lane) & 1U) != 0U; }
  static CAROM_INLINE Mask mask(unsigned bits) { return Mask::from_bits(bits); }

  /// Gives these lanes their next samples, or retires them.
  CAROM_INLINE void start(unsigned lanes) {
    const Mask fresh = mask(lanes);
    unsigned wanted = wanted_.bits() & ~lanes;
    alignas(64) double e[M][kWidth] = {};
    for (unsigned rest = lanes; rest != 0U; rest &= rest - 1U) {
      const int lane = kernels::lowest_bit(rest);
      if (supply_.empty()) {
        active_ &= ~(1U << lane);
        continue;
      }
      const auto next = supply_.take();
      active_ |= 1U << lane;
      position_[lane] = next.position;
      sample_[lane] = job_.first + static_cast<std::uint64_t>(next.position);
      policy_[lane] = next.policy;
      wanted |= static_cast<unsigned>(next.wanted) << lane;
      pivots_[lane] = 0;
      if constexpr (Stored) {
        for (int i = 0; i < M; ++i) e[i][lane] = supply_.restitution(i);
      }
    }
    if constexpr (Stored) {
      Pack own[M];
      for (int i = 0; i < M; ++i) own[i] = Pack::load(e[i]);
      stores_.begin(fresh, own);
    }
    wanted_ = mask(wanted);
    const Pack none(0.0);
    for (int k = 0; k < kRows; ++k) {
      const Pack u(kernels::event_start(problem_, sizes_.speed, k));
      u_[k] = select(fresh, u, u_[k]);
      total_[k] = select(fresh, none, total_[k]);
    }
    block_ = select(fresh, Pack(1.0), block_);
    left_ = select(fresh, none, left_);
    wrong_ = select(fresh, none, wrong_);
    gained_ = select(fresh, none, gained_);
    steps_ = select(fresh, none, steps_);
    redrawn_ = select(fresh, none, redrawn_);
    spoiled_ = spoiled_ & !fresh;
    follows_ = follows_ & !fresh;
  }

  static CAROM_INLINE Pack corner(Pack x) {
    const Pack square = x * x, fourth = square * square;
    return fourth * fourth;
  }

  /// A whole number from a pack's memory after kTwo52 was added.
  static CAROM_INLINE std::uint32_t whole(const double* at) {
    std::uint64_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return static_cast<std::uint32_t>(bits);
  }

  /// The lanes whose byte has this bit.
  static CAROM_INLINE unsigned lanes_where(std::uint64_t bytes, std::uint32_t bit) {
    return static_cast<unsigned>((bytes / bit & 0x0101010101010101ULL) * 0x0102040810204080ULL >>
                                 56);
  }

  /// The zones whose ends a ratio of weights has reached, one end and the other: those below it,
  /// which are the first ones, in both, and one that it is in in one of them.
  static CAROM_INLINE void zones(const EventFace& face, const double* ratio, unsigned& above,
                                 unsigned& within) {
    if constexpr (M == 2) {
      const Pack own(*ratio);
      for (int z = 0; z < EventFace::kZones; z += kWidth) {
        above |= (own >= Pack::load(face.low + z)).bits() << z;
        within |= (own >= Pack::load(face.high + z)).bits() << z;
      }
    }
  }

  /// Of several modes that hold the first one from a random number on.
  static unsigned first_that_holds(const EventFace& face, const double* ratio,
                                   std::uint32_t first) {
    unsigned above = 0, within = 0;
    zones(face, ratio, above, within);
    const std::uint64_t hold = face.hold[__builtin_ctz(~above)];
    const auto quotient = static_cast<std::uint32_t>(first * face.inverse >> 32);
    const std::uint32_t begin = first - quotient * face.count;
    // without a branch that nobody foresees: the modes from `begin` on, then those before it
    const std::uint64_t in_turn = hold >> begin | hold << (face.count - begin);
    const std::uint32_t past = begin + static_cast<std::uint32_t>(__builtin_ctzll(in_turn));
    return face.mode[past - (past >= face.count ? face.count : 0)];
  }

  /// kernels::event_motion of each lane's mode, whose impulses and rates for one weight lie side by
  /// side: what is turned into lanes is their sums.
  CAROM_INLINE void motion(const double* const* from) {
    constexpr int kOwn = 2 * kRows;
    if constexpr (kOwn % kWidth == 0) {
      alignas(64) double weight[M][kWidth];
      for (int j = 0; j < M; ++j) weight_[j].store(weight[j]);
      for (int e = 0; e < kOwn; e += kWidth) {
        Pack sum[kWidth], column[kWidth];
        for (int lane = 0; lane < kWidth; ++lane) {
          sum[lane] = Pack(0.0);
          for (int j = 0; j < M; ++j) {
            sum[lane] =
                fused(Pack::load(from[lane] + j * kOwn + e), Pack(weight[j][lane]), sum[lane]);
          }
        }
        transpose_packs<kWidth>(sum, column);
        for (int k = 0; k < kWidth; ++k) {
          (e + k < kRows ? impulse_[e + k] : rate_[e + k - kRows]) = column[k];
        }
      }
    } else {
      alignas(64) double mode[kModeSize][kWidth];
      spread<kWidth>(from, kModeSize, mode[0]);
      Pack solution[kModeSize];
      for (int e = 0; e < kModeSize; ++e) solution[e] = Pack::load(mode[e]);
      kernels::event_motion<M>(solution, weight_, impulse_, rate_);
    }
  }

  void sum_series(unsigned lanes, const Pack& key) {
    alignas(64) double u[kRows][kWidth], total[kRows][kWidth], left[kWidth], since[kWidth];
    alignas(64) double key_of[kWidth], events[kWidth];
    for (int k = 0; k < kRows; ++k) u_[k].store(u[k]), total_[k].store(total[k]);
    left_.store(left);
    since_.store(since);
    key.store(key_of);
    events_.store(events);
    for (; lanes != 0U; lanes &= lanes - 1U) {
      const int lane = kernels::lowest_bit(lanes);
      double own_u[kRows], own_total[kRows];
      std::uint32_t zeros = 0;
      for (int k = 0; k < kRows; ++k) {
        own_u[k] = u[k][lane];
        own_total[k] = total[k][lane];
        zeros |= (own_u[k] == 0.0 ? 1U : 0U) << k;
      }
      kernels::EventSeries<M>& series = series_[lane];
      series.resume(static_cast<int>(events[lane]), since[lane]);
      if (series.sum(static_cast<int>(key_of[lane]), zeros, sizes_.speed, own_u, own_total,
                     left[lane])) {
        ++pivots_[lane];
        for (int k = 0; k < kRows; ++k) u[k][lane] = own_u[k], total[k][lane] = own_total[k];
      }
      since[lane] = series.since();
      cycling_ |= 1U << lane;
    }
    for (int k = 0; k < kRows; ++k) u_[k] = Pack::load(u[k]), total_[k] = Pack::load(total[k]);
    left_ = Pack::load(left);
    since_ = Pack::load(since);
  }

  const PackJob& job_;
  const kernels::ImpactProblemView& problem_;
  const kernels::ImpactRun& run_;
  EventRanges<Isa, M> ranges_;
  const double* modes_;
  kernels::EventSizes sizes_;
  Supply& supply_;
  const StoreRows& rows_;
  Stores stores_;
  int nv_;
  unsigned active_ = 0, moves_ = 0, open_ = 0;
  unsigned cycling_ = 0;  ///< lanes whose series has begun to look at cycles
  Pack u_[kRows], total_[kRows], impulse_[kRows], rate_[kRows], state_[M];
  Pack code_[1 + (Stored ? M - 1 : 0)];  ///< what a policy knows contacts by
  Pack holds_{0.0};                      ///< EventWeights::holds, as bits
  Pack weight_[M], drawn_[M], first_{0.0}, left_{0.0}, wrong_{0.0}, gained_{0.0};
  Pack events_{0.0}, since_{0.0}, steps_{0.0}, redrawn_{0.0};
  Pack block_{1.0};  ///< of draws, the next one
  Mask follows_ = Mask::from_bits(0), wanted_ = follows_, spoiled_ = follows_;
  alignas(64) std::uint64_t sample_[kWidth] = {};
  alignas(64) double policy_[kWidth] = {};
  int position_[kWidth] = {};
  std::int32_t pivots_[kWidth] = {};
  kernels::EventSeries<M> series_[kWidth];
};

}  // namespace carom::cpu::simd
