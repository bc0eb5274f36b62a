#pragma once

namespace thrust {

template <class T>
class counting_iterator {
 public:
  explicit counting_iterator(T first) : first_(first) {}
  T operator[](T i) const { return first_ + i; }

 private:
  T first_;
};

}  // namespace thrust
