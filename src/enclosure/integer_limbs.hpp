#pragma once

#include "enclosure/integer.hpp"
#include "enclosure/limbs.hpp"

#if defined(__SIZEOF_INT128__)
namespace carom::enclosure::limbs {

inline int size_of(const Integer& x) { return static_cast<int>(x.backend().size()); }
inline const Word* words_of(const Integer& x) { return x.backend().limbs(); }
inline bool fits(const Integer& x, int most) { return size_of(x) <= most; }
inline Natural magnitude(const Integer& x) { return {words_of(x), size_of(x)}; }

inline void assign(Integer& x, const Natural& magnitude, bool negative) {
  auto& to = x.backend();
  const auto size = static_cast<unsigned>(magnitude.size > 0 ? magnitude.size : 1);
  to.resize(size, size);
  to.limbs()[0] = 0;
  for (int i = 0; i < magnitude.size; ++i) to.limbs()[i] = magnitude.word[i];
  to.sign(negative && magnitude.size > 0);
}

}  // namespace carom::enclosure::limbs
#endif
