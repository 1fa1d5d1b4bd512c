#include "kolmo/flow/option/option.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kolmo/io/nearest.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

std::string with_hyphens(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

Json json_of(const FieldInfo& f, const Value& v) {
  if (v.kind == ValueKind::none) return nullptr;
  switch (f.kind) {
    case FieldKind::flag:
      return v.integer != 0;
    case FieldKind::choice:
      return f.text(v);
    case FieldKind::natural:
      return v.natural;
    case FieldKind::real:
      return v.real;
    case FieldKind::list:
      return std::vector<std::int64_t>(v.list.begin(), v.list.end());
    default:
      return v.integer;
  }
}

}  // namespace

Columns& Columns::add(std::int64_t number) {
  text += (text.empty() ? "" : ",") + std::to_string(number);
  return *this;
}

Columns& Columns::add(std::string_view name) {
  text += text.empty() ? "\"" : ",\"";
  for (const char c : name) text += c == '"' ? std::string(2, c) : std::string(1, c);
  text += '"';
  return *this;
}

Columns& Columns::lags(std::int64_t first, std::int64_t last) {
  text += ":" + std::to_string(first) + (first == last ? "" : "-" + std::to_string(last));
  return *this;
}

const void* OptionInfo::holder(const void* request) const {
  for (const auto part : parts)
    if (part) request = part(request);
  return request;
}

bool OptionInfo::is_chosen(const void* request) const {
  return !chosen.empty() && FieldInfo::value(holder(request)).integer == 0;
}

Json OptionInfo::json(const void* request) const {
  if (is_chosen(request)) return chosen;
  if (option_kind == OptionKind::value) return json_of(*this, FieldInfo::value(holder(request)));
  return words(request).empty() ? Json() : Json(words(request));
}

void OptionInfo::set_value(void* request, const Value& value) const {
  naming_chosen([&] { FieldInfo::set(holder(request), value); });
}

void OptionInfo::set_text(void* request, std::string_view text) const {
  if (option_kind != OptionKind::value) return void(words(request) = text);
  if (!chosen.empty() && text == chosen)
    return FieldInfo::set_value(holder(request), Value::of(ValueKind::integer, 0));
  std::string word(text);
  if (kind == FieldKind::choice) word = with_hyphens(word);
  naming_chosen([&] { FieldInfo::set(holder(request), parse(word)); });
}

template <class F>
void OptionInfo::naming_chosen(const F& set) const {
  try {
    set();
  } catch (const InvalidArgument& e) {
    if (chosen.empty()) throw;
    throw InvalidArgument(std::string(e.what()) + ", or " + std::string(chosen), e.where());
  }
}

void OptionInfo::set_json(void* request, const Json& value) const {
  if (value.is_null() && (optional || option_kind != OptionKind::value)) {
    if (option_kind == OptionKind::value)
      set_value(request, Value());
    else
      words(request).clear();
  } else if (value.is_string()) {
    set_text(request, value.get_ref<const std::string&>());
  } else if (option_kind != OptionKind::value || value.is_structured() || value.is_null()) {
    fail<InvalidArgument>(std::string(name) + " is " + value.dump() + ", which is no value of this option");
  } else if (kind == FieldKind::real && value.is_number()) {
    set_value(request, Value::of(value.get<double>()));
  } else {
    set_text(request, value.dump());
  }
}

std::string OptionInfo::text(const void* request) const {
  if (is_chosen(request)) return std::string(chosen);
  return option_kind == OptionKind::value ? FieldInfo::text(FieldInfo::value(holder(request)))
                                          : words(request);
}

bool OptionInfo::equal(const void* a, const void* b) const {
  if (option_kind != OptionKind::value) return words(a) == words(b);
  return FieldInfo::value(holder(a)) == FieldInfo::value(holder(b));
}

std::string OptionInfo::flag() const { return "--" + with_hyphens(name); }

bool OptionInfo::called(std::string_view word) const {
  const std::string given = with_hyphens(word);
  return given == with_hyphens(name) || (!alias.empty() && given == with_hyphens(alias));
}

const OptionInfo& find_option(Options options, std::string_view name, std::string_view analysis) {
  for (const OptionInfo& o : options)
    if (o.called(name)) return o;
  std::vector<std::string> known;
  for (const OptionInfo& o : options) known.emplace_back(o.name);
  const std::string near = nearest(std::string(name), known);
  fail<InvalidArgument>(std::string(analysis) + ": there is no option '" + std::string(name) + "'" +
                        (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

}  // namespace kolmo
