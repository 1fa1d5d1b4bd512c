#pragma once
#include <cstdint>
#include <string_view>

namespace kolmo {

/// The two estimators of Kraskov, Stoegbauer, Grassberger, Phys. Rev. E 69, 066138 (2004).
enum class KsgAlgorithm : std::int32_t { ksg1, ksg2 };
inline constexpr std::string_view ksg_algorithm_names[] = {"ksg1", "ksg2"};

/// How a surrogate breaks the relation of x to the rest: rows in random order, all rows shifted round by one
/// random distance, or blocks of consecutive rows in random order.
enum class SurrogateType : std::int32_t { permute, circular, block };
inline constexpr std::string_view surrogate_type_names[] = {"permute", "circular", "block"};

}  // namespace kolmo
