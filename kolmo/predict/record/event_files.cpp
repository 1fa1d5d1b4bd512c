#include "kolmo/predict/record/event_files.hpp"

#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo::predict {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are in the file");

template <class T>
T number_at(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// The fields of a message in the wire format of protocol buffers.
class Fields {
 public:
  explicit Fields(std::string_view message) : left(message) {}

  std::uint64_t field = 0, wire = 0;
  std::uint64_t number = 0;  ///< of a varint
  std::string_view content;  ///< of the other kinds

  /// Goes to the next field, if there is one; a message that ends within a field throws std::out_of_range.
  bool next() {
    if (left.empty()) return false;
    const std::uint64_t key = varint();
    field = key >> 3, wire = key & 7;
    if (wire == 0)
      number = varint();
    else
      content = take(wire == 1 ? 8 : wire == 5 ? 4 : wire == 2 ? varint() : left.size() + 1);
    return true;
  }

 private:
  std::string_view left;

  std::string_view take(std::uint64_t size) {
    if (size > left.size()) throw std::out_of_range("field");
    const std::string_view taken = left.substr(0, size);
    left.remove_prefix(size);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = std::uint8_t(take(1)[0]);
      value |= std::uint64_t(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw std::out_of_range("varint");
  }
};

/// The number of a TensorProto that holds one float or double.
std::optional<double> scalar_of(std::string_view tensor) {
  constexpr std::uint64_t of_float = 1, of_double = 2;
  std::uint64_t type = 0;
  std::string_view bytes;
  for (Fields f(tensor); f.next();) {
    if (f.field == 1 && f.wire == 0) type = f.number;
    if (f.field >= 4 && f.field <= 6 && f.wire != 0)
      bytes = f.content;  // tensor_content, float_val, double_val
  }
  if (type == of_float && bytes.size() == 4) return number_at<float>(bytes);
  if (type == of_double && bytes.size() == 8) return number_at<double>(bytes);
  return std::nullopt;
}

using Scalars = std::map<std::int64_t, std::map<std::string, double>>;  ///< by step and tag

/// The scalars of the tags that are wanted. Of the others only the names are kept.
class WantedScalars {
 public:
  explicit WantedScalars(const std::function<bool(std::string_view)>& wanted) : wanted_(wanted) {}

  void add(std::int64_t step, std::string_view tag, double value) {
    auto known = tags_.find(tag);
    if (known == tags_.end()) known = tags_.emplace(tag, wanted_(tag)).first;
    if (!known->second) return;
    scalars_[step][known->first] = std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  }
  Scalars take() { return std::exchange(scalars_, {}); }
  const std::map<std::string, bool, std::less<>>& tags() const { return tags_; }

 private:
  const std::function<bool(std::string_view)>& wanted_;
  std::map<std::string, bool, std::less<>> tags_;  // whether each is wanted
  Scalars scalars_;
};

void add_value(std::string_view value, std::int64_t step, WantedScalars& scalars) {
  std::string_view tag;
  std::optional<double> number;
  for (Fields f(value); f.next();) {
    if (f.field == 1 && f.wire == 2) tag = f.content;
    if (f.field == 2 && f.wire == 5) number = number_at<float>(f.content);
    if (f.field == 8 && f.wire == 2) number = scalar_of(f.content);
  }
  if (number) scalars.add(step, tag, *number);
}

void add_event(std::string_view event, WantedScalars& scalars) {
  std::int64_t step = 0;
  std::string_view summary;
  for (Fields f(event); f.next();) {
    if (f.field == 2 && f.wire == 0) step = std::int64_t(f.number);
    if (f.field == 5 && f.wire == 2) summary = f.content;
  }
  for (Fields f(summary); f.next();)
    if (f.field == 1 && f.wire == 2) add_value(f.content, step, scalars);
}

bool has_checksum(std::string_view bytes, std::uint32_t stored) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;  // CRC-32C
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(std::uint32_t(crc.checksum()), 15) + 0xA282EAD8u == stored;
}

/// A file that is read in pieces.
class Pieces {
 public:
  explicit Pieces(const std::string& file) : bytes_(open_bytes(file)) {}

  /// The next n bytes, or fewer at the end, until the next call. What is not there takes no memory.
  std::string_view next(std::uint64_t n) {
    constexpr std::size_t piece = 1 << 18;
    if (buffer_.size() - at_ < n) buffer_.erase(0, std::exchange(at_, 0));
    for (std::size_t got = piece; got && buffer_.size() - at_ < n;) {
      const std::size_t had = buffer_.size();
      buffer_.resize(had + piece);
      got = bytes_.read(buffer_.data() + had, piece);
      buffer_.resize(had + got);
    }
    const std::string_view taken = std::string_view(buffer_).substr(at_, n);
    at_ += taken.size();
    return taken;
  }

 private:
  ByteReader bytes_;
  std::string buffer_;
  std::size_t at_ = 0;
};

/// A record is the size of its content, the checksum of that size, the content, and its checksum.
void read_scalars(const std::string& file, WantedScalars& scalars) {
  Pieces pieces(file);
  for (std::uint64_t at = 0, size = 0;; at += 16 + size) {
    const auto place = [&] { return file + ": the record at byte " + std::to_string(at); };
    const std::string_view head = pieces.next(12);
    if (head.size() < 12) return;
    size = number_at<std::uint64_t>(head);
    if (!has_checksum(head.substr(0, 8), number_at<std::uint32_t>(head.substr(8))))
      fail<InvalidArgument>(place() +
                            " has a wrong checksum: the file is damaged, or no event file of TensorBoard");
    const std::string_view body = pieces.next(size + 4);
    if (size + 4 < size || body.size() < size + 4) return;
    const std::string_view content = body.substr(0, size);
    if (!has_checksum(content, number_at<std::uint32_t>(body.substr(size))))
      fail<InvalidArgument>(place() + " has a wrong checksum: the file is damaged");
    try {
      add_event(content, scalars);
    } catch (const std::out_of_range&) {
      fail<InvalidArgument>(place() + " is no event of TensorBoard");
    }
  }
}

/// Adds what a later file holds. A scalar that goes back to a step that it has passed began again there, from a checkpoint.
void join(Scalars& all, const Scalars& later) {
  std::map<std::string, std::int64_t> first;
  for (const auto& [step, values] : later)
    for (const auto& [tag, value] : values) first.try_emplace(tag, step);
  for (const auto& [tag, step] : first)
    for (auto i = all.lower_bound(step); i != all.end();) {
      i->second.erase(tag);
      i = i->second.empty() ? all.erase(i) : std::next(i);
    }
  for (const auto& [step, values] : later) all[step].insert(values.begin(), values.end());
}

}  // namespace

std::vector<std::string> event_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().filename().string().find("tfevents") != std::string::npos)
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Table read_event_files(const std::string& folder, const std::function<bool(std::string_view)>& wanted) {
  const std::vector<std::string> files = event_files(folder);
  require(!files.empty(),
          folder +
              ": the folder holds no event files of TensorBoard (their names have 'tfevents'); a run is "
              "the folder that holds them itself");
  WantedScalars read(wanted);
  Scalars scalars;
  for (const std::string& file : files) {
    read_scalars(file, read);
    join(scalars, read.take());
  }
  Table table{.file = folder, .names = {"step"}, .columns{}, .faults{}, .named = true};
  std::map<std::string, std::size_t> number;
  for (const auto& [step, values] : scalars)
    for (const auto& [tag, value] : values)
      if (tag != "step" && number.try_emplace(tag, table.names.size()).second) table.names.push_back(tag);
  table.columns.assign(table.names.size(),
                       std::vector(scalars.size(), std::numeric_limits<double>::quiet_NaN()));
  for (const auto& [tag, is_wanted] : read.tags())
    if (tag != "step" && !is_wanted) table.names.push_back(tag);
  require(table.names.size() > 1, folder + ": the event files hold no scalars");
  table.columns.resize(table.names.size());
  table.faults.resize(table.names.size());
  std::size_t row = 0;
  for (const auto& [step, values] : scalars) {
    table.columns[0][row] = double(step);
    for (const auto& [tag, value] : values)
      if (tag != "step") table.columns[number.at(tag)][row] = value;
    ++row;
  }
  return table;
}

}  // namespace kolmo::predict
