#include "kolmo/io/sha256.hpp"

#include <openssl/sha.h>

namespace kolmo {

std::string sha256(std::string_view bytes, std::size_t digits) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::string hex;
  for (const unsigned char byte : digest)
    hex += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return hex.substr(0, digits);
}

}  // namespace kolmo
