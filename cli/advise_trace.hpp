#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo::cli {

/// A call of an operator in a trace.
struct TracedCall {
  struct Operand {
    std::string name, dtype;
    std::vector<std::uint64_t> shape;
    bool read, written;
    std::uint64_t address, bytes;

    std::uint64_t end() const { return address + bytes; }
    bool touches(const Operand& o) const { return address < o.end() && o.address < end(); }
    bool same_memory(const Operand& o) const {
      return address == o.address && bytes == o.bytes && dtype == o.dtype;
    }
    bool same_form(const Operand& o) const { return dtype == o.dtype && shape == o.shape; }
  };

  std::string name, track, device;
  double begin, seconds, bytes;
  std::map<std::string, std::string> options;
  std::vector<Operand> operands;

  std::string option(const std::string& of) const;
  /// The operand of this name, or nullptr.
  const Operand* operand(std::string_view of) const;
  /// The operand that is exactly this memory, if the call reads it there alone.
  const Operand* reader_of(const Operand& o) const;
  /// The first operand that the call writes, or nullptr.
  const Operand* output() const;
};

/// The calls of a trace by track and time, without what ran within another call. Throws InvalidArgument, naming `label`, if the
/// text is no trace that --trace wrote.
std::vector<TracedCall> read_trace(const std::string& text, const std::string& label);

/// Of each call the number of the only later one that reads what the call wrote into its output() before something else is
/// written there, or -1 if none does or several do.
std::vector<std::ptrdiff_t> only_readers(const std::vector<TracedCall>& calls);

}  // namespace kolmo::cli
