#include "kolmo/tune/call.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "kolmo/op/bind.hpp"

namespace kolmo::tune {
namespace {

/// Multiplies to 128 bits and folds the halves together.
constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return std::uint64_t(product) ^ std::uint64_t(product >> 64);
}

/// One odd random number for each place of a call's numbers.
constexpr auto keys = [] {
  std::array<std::uint64_t, CallNumbers::capacity + 2> k{};
  std::uint64_t state = 0x9E3779B97F4A7C15u;
  for (auto& one : k) one = fold(state += 0x9E3779B97F4A7C15u, 0xD1342543DE82EF95u) | 1;
  return k;
}();

// Reads an argument by its offset in the argument struct: this is the hot path.
template <class T>
const T& at(const void* args, std::ptrdiff_t offset) {
  return *reinterpret_cast<const T*>(static_cast<const std::byte*>(args) + offset);
}
const Tensor& tensor_at(const void* args, std::ptrdiff_t offset) { return at<Tensor>(args, offset); }
// Stands for an optional integer that is left out.
constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
std::int64_t number_at(const FieldInfo& f, const void* args, std::ptrdiff_t offset) {
  if (f.kind == FieldKind::flag) return at<bool>(args, offset);
  if (f.kind == FieldKind::choice) return at<std::int32_t>(args, offset);
  const auto entry = [](std::int64_t n) { return n < 0 ? n : bucket_edge(n); };
  if (f.optional) return f.value(args).kind == ValueKind::none ? none : entry(f.value(args).integer);
  return entry(at<std::int64_t>(args, offset));
}

std::string text_of(const FieldInfo& f, std::int64_t n) {
  if (f.kind == FieldKind::choice) return std::string(f.choices[std::size_t(n)]);
  if (f.kind == FieldKind::flag) return n ? "true" : "false";
  return f.optional && n == none ? "none" : std::to_string(n);
}

std::optional<std::int64_t> parse_integer(const std::string& text) {
  std::int64_t n = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, n);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(n) : std::nullopt;
}

std::optional<std::int64_t> parse_option(const FieldInfo& f, const std::string& text) {
  if (f.kind == FieldKind::integer) return text == "none" ? std::optional(none) : parse_integer(text);
  if (f.kind == FieldKind::flag)
    return text == "true" || text == "false" ? std::optional<std::int64_t>(text == "true") : std::nullopt;
  const auto at = std::find(f.choices.begin(), f.choices.end(), text);
  return at == f.choices.end() ? std::nullopt : std::optional(std::int64_t(at - f.choices.begin()));
}

}  // namespace

std::uint64_t CallNumbers::hash(std::uint64_t op, Device device) const {
  // The sum is made of products of pairs, which do not wait for each other.
  std::uint64_t sum =
      fold(op ^ keys[capacity],
           (std::uint64_t(device.kind) << 32 | std::uint32_t(device.index)) ^ keys[capacity + 1]);
  std::size_t i = 0;
  for (; i + 1 < count; i += 2)
    sum += fold(std::uint64_t(items[i]) ^ keys[i], std::uint64_t(items[i + 1]) ^ keys[i + 1]);
  if (i < count) sum += fold(std::uint64_t(items[i]) ^ keys[i], keys[i + 1]);
  return fold(sum ^ count, keys[0]);
}

CallReader::CallReader(const OpBase& op) : op_(&op) {
  const auto decides = [](const FieldInfo& f) { return f.is_tensor() && f.is_input() && !f.incidental; };
  const bool by_inputs = std::any_of(op.fields().begin(), op.fields().end(),
                                     [&](const FieldInfo& f) { return decides(f) && !f.optional; });
  for (const FieldInfo& f : op.fields()) {
    if (!f.is_tensor() || f.incidental) continue;
    if (!f.dtypes.single()) typed_.push_back(offset_of(f));
    if (f.optional) optional_.push_back({&f, offset_of(f)});
    if (decides(f) || !by_inputs) add_sizes(f);
  }
  for (const FieldInfo& f : op.fields()) {
    const bool is_size =
        std::any_of(sizes_.begin(), sizes_.end(), [&](const Size& s) { return s.name == f.name; });
    const bool bounded = f.kind == FieldKind::integer && !is_size && f.max.integer < std::int64_t(1) << 31;
    if (!f.incidental && (f.kind == FieldKind::choice || f.kind == FieldKind::flag || bounded))
      options_.push_back({&f, offset_of(f)});
  }
  if (3 + sizes_.size() + options_.size() > CallNumbers::capacity || optional_.size() > 62)
    fail<Unsupported>(std::string(op.name) + ": has too many arguments to be tuned");
}

std::ptrdiff_t CallReader::offset_of(const FieldInfo& f) const {
  std::vector<std::byte> args = op_->default_args();
  return static_cast<std::byte*>(f.at(args.data())) - args.data();
}

void CallReader::add_sizes(const FieldInfo& f) {
  for (int i = 0; i < f.shape.count; ++i) {
    const ShapeWord& w = f.shape.words[std::size_t(i)];
    if (w.number()) continue;
    auto size = std::find_if(sizes_.begin(), sizes_.end(), [&](const Size& s) { return s.name == w.name; });
    if (size == sizes_.end()) size = sizes_.insert(size, {std::string(w.name), {}});
    const int after = f.shape.count - i;  // number of words from here on
    const bool before_batch = f.shape.batch > i;
    size->places.push_back({offset_of(f), w.batch() ? 0 : before_batch ? -1 - i : after, f.shape.named()});
  }
}

std::int64_t CallReader::size_of_call(const Size& size, const void* args) const {
  for (const Place& p : size.places) {
    const Tensor& t = tensor_at(args, p.offset);
    if (!t.given()) continue;
    if (p.axis > 0) return t.extent[std::size_t(t.rank - p.axis)];
    if (p.axis < 0) return t.extent[std::size_t(-1 - p.axis)];
    std::int64_t named = 1;
    for (int i = 0; i < p.named; ++i) named *= t.extent[std::size_t(t.rank - 1 - i)];
    return named ? t.size() / named : 0;
  }
  return 0;
}

CallNumbers CallReader::read(const void* args, int threads) const {
  CallNumbers n;
  std::int64_t dtype = -1, given = 0;
  for (const std::ptrdiff_t offset : typed_)
    if (const Tensor& t = tensor_at(args, offset); t.given()) {
      dtype = std::int64_t(t.dtype);
      break;
    }
  for (const Located& f : optional_) given = given << 1 | tensor_at(args, f.offset).given();
  n.push(dtype), n.push(threads), n.push(given);
  for (const Size& s : sizes_) n.push(bucket_edge(size_of_call(s, args)));
  for (const Located& f : options_) n.push(number_at(*f.field, args, f.offset));
  return n;
}

Key CallReader::key(const CallNumbers& n, std::string_view kernel_hash) const {
  Key key;
  key.kernel = op_->name, key.kernel_hash = kernel_hash;
  key.dtype = n.items[0] < 0 ? "" : to_string(DType(n.items[0]));
  if (n.items[1]) key.extras["threads"] = std::to_string(n.items[1]);
  for (std::size_t i = 0; i < optional_.size(); ++i)
    if (n.items[2] >> (optional_.size() - 1 - i) & 1)
      key.extras["given " + std::string(optional_[i].field->name)] = "true";
  std::size_t at = 3;
  for (const Size& s : sizes_) key.dims.push_back({s.name, bucket_of(n.items[at++])});
  for (const Located& f : options_)
    key.extras["option " + std::string(f.field->name)] = text_of(*f.field, n.items[at++]);
  return key;
}

std::optional<CallNumbers> CallReader::numbers(const Key& key) const {
  const auto extra = [&](const std::string& name) {
    const auto found = key.extras.find(name);
    return found == key.extras.end() ? std::string() : found->second;
  };
  if (key.kernel != op_->name || key.dims.size() != sizes_.size()) return {};
  CallNumbers n;
  n.push(-1);
  for (const DType t : all_dtypes)
    if (to_string(t) == key.dtype) n.items[0] = std::int64_t(t);
  n.push(parse_integer(extra("threads")).value_or(0));
  std::int64_t given = 0;
  for (const Located& f : optional_)
    given = given << 1 | (extra("given " + std::string(f.field->name)) == "true");
  n.push(given);
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const Bucket& b = key.dims[i].bucket;
    if (key.dims[i].name != sizes_[i].name || bucket_of(b.high) != b) return {};
    n.push(b.high);
  }
  for (const Located& f : options_) {
    const auto value = parse_option(*f.field, extra("option " + std::string(f.field->name)));
    if (!value) return {};
    n.push(*value);
  }
  return n;
}

double CallReader::distance(const CallNumbers& a, const CallNumbers& b) const {
  const std::size_t first_option = 3 + sizes_.size();
  double far = 0;
  for (std::size_t i = 0; i < a.count; ++i) {
    if (a.items[i] == b.items[i]) continue;
    const bool is_size = i >= 3 && i < first_option;
    const bool counts =
        is_size || (i >= first_option && options_[i - first_option].field->kind == FieldKind::integer);
    if (!counts || a.items[i] <= 0 || b.items[i] <= 0) return std::numeric_limits<double>::infinity();
    far = std::max(far, std::abs(std::log2(double(a.items[i]) / double(b.items[i]))));
  }
  return far;
}

}  // namespace kolmo::tune
