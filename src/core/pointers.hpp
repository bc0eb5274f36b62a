#pragma once

namespace carom {

/// Array types for the batches that kernels get: pointers to values to be read or written.
template <class T>
using ConstPointer = const T*;
template <class T>
using Pointer = T*;

}  // namespace carom
