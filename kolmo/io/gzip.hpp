#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "kolmo/io/byte_reader.hpp"

namespace kolmo {

/// A packed file may grow to this many bytes, however small it is. Beyond, it may grow to this many times its
/// size.
inline constexpr std::uint64_t unpacked_bytes_allowed = std::uint64_t(64) << 20;
inline constexpr std::uint64_t unpacked_ratio_allowed = 200;

/// Whether bytes start with the magic number of gzip.
bool is_gzip(std::string_view start);

/// Unpacks gzip (RFC 1952) piece by piece; several members one after the other are one text, as for `gunzip`.
/// Reading throws InvalidArgument, "NAME: ...", for data that is damaged, cut short or followed by other
/// bytes than zeros, and for data that grows beyond both of the limits above.
ByteReader gunzip(ByteReader packed, const std::string& name);

}  // namespace kolmo
