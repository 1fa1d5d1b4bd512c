#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

/// Length of the UTF-8 sequence that starts `s` (RFC 3629: shortest form, no surrogates), 0 if there is none.
std::size_t sequence_length(std::string_view s) {
  const auto byte = [&](std::size_t i) {
    return i < s.size() ? unsigned(static_cast<unsigned char>(s[i])) : 0;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0), second = byte(1);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = sequence_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

/// Whether a UTF-8 sequence of several bytes changes how the text around it is shown: a control character
/// (U+0080 to U+009F), a direction mark, embedding, override or isolate, a line or paragraph separator.
static bool unsafe(std::string_view sequence) {
  char32_t code = static_cast<unsigned char>(sequence[0]) & (0xFFu >> (sequence.size() + 1));
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return (code >= 0x80 && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string printable(std::string_view text, std::size_t limit) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t n = sequence_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    const bool plain = n > 1 ? !unsafe(text.substr(0, n)) : n == 1 && byte >= 0x20 && byte != 0x7F;
    const std::string piece =
        plain ? std::string(text.substr(0, n)) : std::string{'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    if (out.size() + piece.size() > limit) return out + "...";
    out += piece;
    text.remove_prefix(plain ? n : 1);
  }
  return out;
}

}  // namespace kolmo
