#include "kolmo/io/npy_header.hpp"

#include <charconv>
#include <span>

#include "kolmo/base/error.hpp"
#include "kolmo/io/npy.hpp"

namespace kolmo {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Reads the header's Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class Dictionary {
 public:
  Dictionary(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !descr) {
        header.descr = descr_value();
        descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran_order = truth();
        order = true;
      } else if (key == "shape" && !shape) {
        header.shape = extents();
        shape = true;
      } else {
        malformed();
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (!text_.empty() || !descr || !order || !shape) malformed();
    return header;
  }

 private:
  void skip() {
    const auto n = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(n == std::string_view::npos ? text_.size() : n);
  }
  bool take(char c) {
    skip();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) malformed();
  }
  std::string quoted() {
    skip();
    if (!text_.starts_with('\'') && !text_.starts_with('"')) malformed();
    const auto end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) malformed();
    std::string out(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return out;
  }
  std::string descr_value() {
    skip();
    require(!text_.starts_with('[') && !text_.starts_with('('),
            name_ + ": structured NPY dtypes are not supported");
    return quoted();
  }
  bool truth() {
    skip();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return word == "True";
    }
    malformed();
  }
  std::vector<std::int64_t> extents() {
    std::vector<std::int64_t> shape;
    expect('(');
    while (!take(')')) {
      skip();
      std::int64_t extent = 0;
      const auto parsed = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (parsed.ec != std::errc{} || extent < 0) malformed();
      text_.remove_prefix(std::size_t(parsed.ptr - text_.data()));
      take('L');  // Python 2 wrote long integers in this way
      shape.push_back(extent);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }
  [[noreturn]] void malformed() { fail<InvalidArgument>(name_ + ": malformed NPY header"); }

  std::string_view text_;
  const std::string& name_;
};

}  // namespace

bool is_npy(std::span<const std::byte> bytes) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).starts_with(magic);
}

NpyHeader read_npy_header(ByteReader& bytes, const std::string& name) {
  constexpr std::size_t longest = std::size_t(1) << 20;  // NumPy refuses more than 10,000 bytes unless told
  const auto truncated = [&](bool whole) { require(whole, name + ": NPY file is truncated in its header"); };
  const auto ahead = [&](std::size_t n) { return bytes.peek(n); };
  require(is_npy(std::as_bytes(std::span(ahead(npy_magic_bytes)))),
          name + ": not an NPY file: it does not start with \\x93NUMPY");
  truncated(ahead(10).size() == 10);
  const auto byte = [&](std::size_t i) { return std::size_t(static_cast<unsigned char>(ahead(12)[i])); };
  const std::size_t major = byte(6), minor = byte(7);
  require(major >= 1 && major <= 3 && minor == 0, name + ": NPY version " + std::to_string(major) + "." +
                                                      std::to_string(minor) +
                                                      " is not supported; want 1.0 to 3.0");
  const std::size_t start = major == 1 ? 10 : 12;
  truncated(ahead(start).size() == start);
  std::size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  require(length <= longest, name + ": NPY header is longer than 1 MiB");
  std::string text(start + length, '\0');
  truncated(bytes.read(text.data(), text.size()) == text.size());
  NpyHeader header = Dictionary(std::string_view(text).substr(start), name).parse();
  header.bytes = text.size();
  return header;
}

std::string npy_header(std::string_view descr, const std::vector<std::int64_t>& shape) {
  std::string text = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t extent : shape) text += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) text.resize(text.size() - 2);
  text += "), }";
  const std::size_t start = magic.size() + 4;
  text.append(63 - (start + text.size()) % 64, ' ');
  text += '\n';
  return std::string(magic) + '\x01' + '\0' + char(text.size() & 255) + char(text.size() >> 8) + text;
}

}  // namespace kolmo
