#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "kolmo/base/error.hpp"

namespace kolmo {

/// The two estimators of Kraskov, Stoegbauer, Grassberger, Phys. Rev. E 69, 066138 (2004).
enum class KsgAlgorithm : std::int32_t { ksg1, ksg2 };
inline constexpr std::string_view ksg_algorithm_names[] = {"ksg1", "ksg2"};

/// How a surrogate breaks the relation of x to the rest: rows in random order, all rows shifted round by one
/// random distance, or blocks of consecutive rows in random order.
enum class SurrogateType : std::int32_t { permute, circular, block };
inline constexpr std::string_view surrogate_type_names[] = {"permute", "circular", "block"};

/// Throws unless every one of n rows can have k neighbours outside its Theiler window.
inline void require_rows(std::string_view op, std::int64_t n, std::int64_t k, std::int64_t theiler) {
  if (n <= k + 2 * theiler)
    fail<InvalidArgument>(std::string(op) + ": " + std::to_string(n) + " rows are too few for k = " +
                          std::to_string(k) + " and theiler = " + std::to_string(theiler) +
                          ", which need more than k + 2 theiler = " + std::to_string(k + 2 * theiler));
}

}  // namespace kolmo
