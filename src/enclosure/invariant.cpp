#include "enclosure/invariant.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

namespace carom::enclosure {

namespace {

constexpr const char* kWord = "carom-enclosure";
constexpr std::size_t kMostWords = std::size_t{1} << 24;

/// Of a contact in the code of a face.
constexpr int bits(bool stores) { return stores ? kFaceBits : 3; }

FaceCode written(FaceCode code, int contacts, bool stores) {
  FaceCode result = 0;
  for (int c = 0; c < contacts; ++c) {
    result |= static_cast<FaceCode>(contact_face(code, c)) << (bits(stores) * c);
  }
  return result;
}

void write(std::string& out, const Integer& value) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto& backend = value.backend();
  if (backend.sign()) out += '-';
  constexpr int kBits = std::numeric_limits<boost::multiprecision::limb_type>::digits;
  const auto top = static_cast<int>(backend.size()) - 1;
  const auto used = static_cast<int>(std::bit_width(backend.limbs()[top]));
  const auto digits = static_cast<std::size_t>(std::max(1, (used + 3) / 4) + top * (kBits / 4));
  out.resize(out.size() + digits);
  char* at = out.data() + out.size();
  for (int i = 0; i <= top; ++i) {
    auto limb = backend.limbs()[i];
    for (int k = 0; k < kBits / 4 && at > out.data() + out.size() - digits; ++k, limb >>= 4) {
      *--at = kDigits[limb & 15U];
    }
  }
}

void write(std::string& out, const Vector& row) {
  for (const Integer& value : row) {
    out += ' ';
    write(out, value);
  }
  out += '\n';
}

class Reader {
 public:
  explicit Reader(const std::string& text) : in_(text) {}

  bool expect(const std::string& word) { return next() == word && good_; }
  std::int64_t count(std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    if (!(in_ >> value) || value < least || value > most) good_ = false;
    return good_ ? value : least;
  }
  Integer integer() {
    std::string word = next();
    const bool negative = !word.empty() && word[0] == '-';
    if (negative) word.erase(0, 1);
    if (word.empty() || word.find_first_not_of("0123456789abcdef") != std::string::npos) {
      good_ = false;
      return Integer(0);
    }
    const Integer size("0x" + word);
    return negative ? Integer(-size) : size;
  }
  Vector row(std::size_t size) {
    Vector values(good_ ? size : 0);
    for (Integer& value : values) value = integer();
    return values;
  }
  std::vector<Vector> rows(std::int64_t count, std::size_t size) {
    std::vector<Vector> result;
    for (std::int64_t i = 0; good_ && i < count; ++i) result.push_back(row(size));
    return result;
  }
  [[nodiscard]] bool good() const { return good_; }
  bool ended() {
    std::string word;
    return !(in_ >> word);
  }

 private:
  std::string next() {
    std::string word;
    if (!(in_ >> word) || ++words_ > kMostWords) good_ = false;
    return word;
  }

  std::istringstream in_;
  std::size_t words_ = 0;
  bool good_ = true;
};

}  // namespace

bool is_invariant(const std::string& text) { return text.starts_with(kWord); }

std::string text_of(const RoundedImpact& impact, const Family& family) {
  const bool stores = !impact.stores.empty();
  const bool impulses = std::any_of(impact.guard.begin(), impact.guard.end(),
                                    [](const auto& guard) { return !guard.impulse.empty(); });
  std::string out = kWord;
  out += ' ' +
         std::to_string((impact.friction_varies ? 2 : 1) + (stores ? 2 : 0) + (impulses ? 2 : 0)) +
         '\n';
  out += std::to_string(impact.contacts) + ' ' + std::to_string(impact.basis.size());
  for (const int k : impact.basis) out += ' ' + std::to_string(k);
  out += ' ' + std::to_string(std::ilogb(impact.unit)) + '\n';
  if (stores) {
    out += std::to_string(impact.stores.size());
    for (const int i : impact.stores) out += ' ' + std::to_string(i);
    out += ' ' + std::to_string(impact.store_bits) + '\n';
    for (const auto& [upper, lower, impulse] : impact.guard) {
      write(out, Vector{upper, lower});
      if (!impulses) continue;
      out += std::to_string(impulse.size());
      write(out, impulse);
    }
  }
  for (std::size_t k = 0; k < impact.row.size(); ++k) {
    write(out, impact.scale[k]);
    write(out, impact.row[k]);
  }
  write(out, impact.start);
  for (const Vector& push : impact.push) write(out, push);
  for (const Vector& row : impact.energy) write(out, row);
  std::size_t pieces = 0;
  for (const auto& [code, kept] : family) pieces += kept.size();
  out += std::to_string(pieces) + '\n';
  for (const auto& [code, kept] : family) {
    for (const Piece& piece : kept) {
      out += std::to_string(written(code, impact.contacts, stores)) + ' ' +
             std::to_string(piece.equations.size()) + ' ' + std::to_string(piece.rows.size()) +
             '\n';
      for (const Vector& row : piece.equations) write(out, row);
      for (const Vector& row : piece.rows) write(out, row);
    }
  }
  return out;
}

std::optional<Invariant> read_invariant(const std::string& text) {
  Reader in(text);
  if (!in.expect(kWord)) return std::nullopt;
  Invariant result;
  RoundedImpact& impact = result.impact;
  const std::int64_t version = in.count(1, 6);
  const bool stores = version > 2, impulses = version > 4;
  impact.friction_varies = version % 2 == 0;
  impact.contacts = static_cast<int>(in.count(0, kMaxEnclosedContacts));
  const int rows = 2 * impact.contacts;
  const std::int64_t size = in.count(0, rows);
  for (std::int64_t a = 0; a < size; ++a) {
    const auto least = impact.basis.empty() ? 0 : impact.basis.back() + 1;
    impact.basis.push_back(static_cast<int>(in.count(least, std::max(least, rows - 1))));
  }
  if (!in.good() || (!impact.basis.empty() && impact.basis.back() >= rows)) return std::nullopt;
  impact.unit = std::ldexp(1.0, static_cast<int>(in.count(-1000, 1000)));
  if (stores) {
    const std::int64_t some = in.count(1, std::max(1, impact.contacts));
    for (std::int64_t s = 0; s < some && in.good(); ++s) {
      impact.stores.push_back(static_cast<int>(in.count(0, impact.contacts - 1)));
    }
    impact.store_bits = static_cast<int>(in.count(-2000, 2000));
    for (std::int64_t s = 0; s < some && in.good(); ++s) {
      RoundedImpact::Guard& guard = impact.guard.emplace_back();
      guard.upper = in.integer();
      guard.lower = in.integer();
      const std::int64_t most = impulses ? size : 0;
      if (impulses && in.count(0, most) != 0) guard.impulse = in.row(impact.basis.size());
    }
    if (!in.good()) return std::nullopt;
  }
  for (int k = 0; k < rows && in.good(); ++k) {
    impact.scale.push_back(in.integer());
    impact.row.push_back(in.row(impact.size()));
    if (!(impact.scale.back() > 0)) return std::nullopt;
  }
  impact.start = in.row(impact.size());
  impact.push = in.rows(impact.contacts * impact.corners(), impact.size());
  impact.energy = in.rows(2 * static_cast<std::int64_t>(rows), impact.size());
  const std::int64_t pieces = in.count(0, 1 << 20);
  for (std::int64_t i = 0; i < pieces && in.good(); ++i) {
    FaceCode code = 0;
    const auto digits = in.count(0, (std::int64_t{1} << bits(stores) * impact.contacts) - 1);
    for (int c = 0; c < impact.contacts; ++c) {
      const auto digit = static_cast<int>(digits >> (bits(stores) * c)) & ((1 << bits(stores)) - 1);
      if (digit >= (stores ? kContactFacesWithStores : kContactFaces)) return std::nullopt;
      code |= face_code(static_cast<ContactFace>(digit), c);
    }
    const std::int64_t equations = in.count(0, 1 << 16), bounds = in.count(0, 1 << 16);
    Piece piece;
    piece.equations = in.rows(equations, impact.size());
    piece.rows = in.rows(bounds, impact.size());
    result.family[code].push_back(std::move(piece));
  }
  if (!in.good() || !in.ended() || impact.start.empty() || !(impact.start[0] > 0)) {
    return std::nullopt;
  }
  return result;
}

}  // namespace carom::enclosure
