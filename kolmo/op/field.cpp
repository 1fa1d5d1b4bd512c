#include "kolmo/op/field.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace kolmo {
namespace {

template <class T>
T number(std::string_view text, const char* what) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc::result_out_of_range)
    fail<InvalidArgument>("is '" + std::string(text) + "', which is out of the range of " + what);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    fail<InvalidArgument>("is '" + std::string(text) + "', expected " + what);
  return value;
}

std::string real_text(double x) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  return {buffer, end};
}

std::string joined(std::span<const std::string_view> names) {
  std::string all;
  for (const auto name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

ValueKind kind_of(FieldKind k) {
  switch (k) {
    case FieldKind::integer:
      return ValueKind::integer;
    case FieldKind::natural:
      return ValueKind::natural;
    case FieldKind::real:
      return ValueKind::real;
    case FieldKind::flag:
      return ValueKind::flag;
    case FieldKind::list:
      return ValueKind::list;
    default:
      return ValueKind::choice;
  }
}

bool inside(FieldKind kind, const Value& v, const Value& min, const Value& max) {
  if (kind == FieldKind::natural) return v.natural >= min.natural && v.natural <= max.natural;
  if (kind == FieldKind::real) return v.real >= min.real && v.real <= max.real;
  if (kind == FieldKind::list)
    return std::all_of(v.list.begin(), v.list.end(),
                       [&](std::int64_t i) { return i >= min.integer && i <= max.integer; });
  return v.integer >= min.integer && v.integer <= max.integer;
}

Value parsed(FieldKind kind, std::span<const std::string_view> choices, std::string_view word) {
  switch (kind) {
    case FieldKind::flag:
      if (word == "true" || word == "1") return Value::of(ValueKind::flag, 1);
      if (word == "false" || word == "0") return Value::of(ValueKind::flag, 0);
      fail<InvalidArgument>("is '" + std::string(word) + "', accepted are true and false");
    case FieldKind::choice: {
      const auto found = std::find(choices.begin(), choices.end(), word);
      if (found == choices.end())
        fail<InvalidArgument>("is '" + std::string(word) + "', accepted are " + joined(choices));
      return Value::of(ValueKind::choice, found - choices.begin());
    }
    case FieldKind::natural:
      return Value::of(number<std::uint64_t>(word, "an integer from 0 on"));
    case FieldKind::real:
      return Value::of(number<double>(word, "a number"));
    case FieldKind::list: {
      Integers list;
      if (word.ends_with(','))
        fail<InvalidArgument>("is '" + std::string(word) + "', which ends with a comma");
      while (!word.empty()) {
        const auto end = std::min(word.find(','), word.size());
        if (list.count == Integers::capacity)
          fail<InvalidArgument>("has more than " + std::to_string(Integers::capacity) + " items");
        list.items[list.count++] = number<std::int64_t>(word.substr(0, end), "integers with commas between");
        word.remove_prefix(std::min(end + 1, word.size()));
      }
      return Value::of(list);
    }
    default:
      return Value::of(number<std::int64_t>(word, "an integer"));
  }
}

}  // namespace

std::string FieldInfo::text(const Value& v) const {
  if (v.kind == ValueKind::none) return "none";
  switch (kind) {
    case FieldKind::flag:
      return v.integer ? "true" : "false";
    case FieldKind::choice:
      return v.integer >= 0 && std::size_t(v.integer) < choices.size()
                 ? std::string(choices[std::size_t(v.integer)])
                 : std::to_string(v.integer);
    case FieldKind::natural:
      return std::to_string(v.natural);
    case FieldKind::real:
      return real_text(v.real);
    case FieldKind::list: {
      std::string all;
      for (const std::int64_t i : v.list) all += (all.empty() ? "" : ",") + std::to_string(i);
      return all;
    }
    default:
      return std::to_string(v.integer);
  }
}

std::string FieldInfo::range() const {
  if (kind == FieldKind::flag) return "true, false";
  if (kind == FieldKind::choice) return joined(choices);
  FieldInfo item = *this;
  if (kind == FieldKind::list) item.kind = FieldKind::integer;
  return item.text(min) + " to " + item.text(max) + (optional ? ", or none" : "");
}

std::string FieldInfo::refusal(const Value& v) const {
  if (kind == FieldKind::flag || (optional && v.kind == ValueKind::none)) return {};
  if (kind == FieldKind::choice) {
    if (v.integer >= 0 && std::size_t(v.integer) < choices.size()) return {};
  } else if (inside(kind, v, min, max)) {
    return {};
  }
  return "is " + text(v) + ", accepted are " + range();
}

void FieldInfo::set(void* args, const Value& v) const {
  if (v.kind != kind_of(kind) && !(optional && v.kind == ValueKind::none))
    fail<InvalidArgument>(std::string(name) + " is given a value of another kind");
  if (const std::string why = refusal(v); !why.empty()) fail<InvalidArgument>(std::string(name) + " " + why);
  set_value(args, v);
}

Value FieldInfo::parse(std::string_view text) const {
  try {
    return optional && text == "none" ? Value{} : parsed(kind, choices, text);
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(std::string(name) + " " + e.what(), e.where());
  }
}

}  // namespace kolmo
