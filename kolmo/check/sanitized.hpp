#pragma once

namespace kolmo::check {

/// Whether this is built with AddressSanitizer, under which checks that take minutes leave out what repeats others.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace kolmo::check
