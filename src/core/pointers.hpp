#pragma once

namespace carom {

/// What the arrays of a batch are to a body: values to be read, and values to be written.
template <class T>
using ConstPointer = const T*;
template <class T>
using Pointer = T*;

}  // namespace carom
