#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kolmo/base/error.hpp"
#include "kolmo/knn/surrogate.hpp"

namespace kolmo {

/// The two estimators of Kraskov, Stoegbauer, Grassberger, Phys. Rev. E 69, 066138 (2004).
enum class KsgAlgorithm : std::int32_t { ksg1, ksg2 };
inline constexpr std::string_view ksg_algorithm_names[] = {"ksg1", "ksg2"};
constexpr std::span<const std::string_view> names_of(KsgAlgorithm) { return ksg_algorithm_names; }

/// Possible faults in the data of a conditional estimate, in the order of its OpInfo::faults.
enum class KsgFault : std::int32_t { x, y, time, z, segments, rows };
inline constexpr std::string_view ksg_faults[] = {"x is not finite",
                                                  "y is not finite",
                                                  "time does not ascend",
                                                  "z is not finite",
                                                  "segments do not climb from 0 to n",
                                                  "segments leave too few rows for k and theiler"};

/// Throws unless every one of n rows can have k neighbours outside its Theiler window.
inline void require_rows(std::string_view op, std::int64_t n, std::int64_t k, std::int64_t theiler) {
  if (n <= k + 2 * theiler)
    fail<InvalidArgument>(std::string(op) + ": " + std::to_string(n) + " rows are too few for k = " +
                          std::to_string(k) + " and theiler = " + std::to_string(theiler) +
                          ", which need more than k + 2 theiler = " + std::to_string(k + 2 * theiler));
}

}  // namespace kolmo
