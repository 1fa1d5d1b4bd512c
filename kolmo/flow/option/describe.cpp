#include "kolmo/flow/option/describe.hpp"

#include <nlohmann/json.hpp>

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

std::string_view kind_name(const OptionInfo& o) {
  if (o.option_kind == OptionKind::text) return "text";
  if (o.option_kind == OptionKind::columns) return "columns";
  if (o.option_kind == OptionKind::lagged) return "lagged columns";
  switch (o.kind) {
    case FieldKind::flag:
      return "flag";
    case FieldKind::choice:
      return "choice";
    case FieldKind::real:
      return "real";
    case FieldKind::natural:
      return "natural";
    default:
      return "integer";
  }
}

}  // namespace

Json describe(const OptionInfo& o, const void* usual) {
  Json j{{"name", o.name}, {"kind", kind_name(o)}, {"default", o.json(usual)}, {"help", o.help}};
  if (!o.alias.empty()) j["alias"] = o.alias;
  if (!o.automatic.empty()) j["if_left_out"] = o.automatic;
  if (!o.chosen.empty()) j["or"] = o.chosen;
  if (o.option_kind == OptionKind::value && o.kind == FieldKind::integer)
    j["min"] = o.min.integer, j["max"] = o.max.integer;
  if (o.option_kind == OptionKind::value && o.kind == FieldKind::choice) j["choices"] = o.choices;
  j["optional"] = o.optional, j["required"] = o.required, j["common"] = o.common;
  j["beside_the_result"] = o.aside, j["for_files"] = o.of_files, j["path"] = o.path != PathUse::none;
  constexpr std::string_view uses[] = {"always",     "ksg",      "discrete and ordinal",       "ordinal",
                                       "surrogates", "pairwise", "multivariate and bivariate", "one pair",
                                       "all pairs"};
  j["use"] = uses[std::size_t(o.use)];
  return j;
}

Json describe(const CommandTexts& t, Options options, const void* usual) {
  Json j{{"name", t.name},       {"function", t.function}, {"summary", t.summary},    {"about", t.about},
         {"example", t.example}, {"source", t.source},     {"options", Json::array()}};
  for (const OptionInfo& o : options) j["options"].push_back(describe(o, usual));
  return j;
}

}  // namespace kolmo
