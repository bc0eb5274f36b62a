#pragma once

#include <algorithm>
#include <type_traits>

#include <carom/types/derivative_margin.hpp>

#include "core/arrays.hpp"
#include "core/constants.hpp"

namespace carom {

/// Residual of a margin that has a derivative.
inline constexpr double kCertifiedMargin = 1e-12;

/// NaN everywhere, and no arrays of what was not asked for.
inline MarginGradient empty_margin_gradient(const PostureBatch& batch, const MarginWanted& wanted) {
  MarginGradient result = allocate<MarginGradient>(batch);
  MarginGradient::each_array(
      batch,
      [](const char*, const Extents&, auto& array) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(*array.data())>, double>) {
          std::fill_n(array.data(), array.size(), kNan);
        }
      },
      result);
  if (!wanted.position) result.position = {};
  if (!wanted.normal) result.normal = {};
  if (!wanted.friction) result.friction = {};
  if (!wanted.length || batch.length.size() == 0) result.length = {};
  if (!wanted.wrench) result.wrench = {};
  if (!wanted.centre_of_mass) result.centre_of_mass = {};
  return result;
}

}  // namespace carom
