#include "kolmo/flow/request/options_json.hpp"

#include <algorithm>

#include "kolmo/flow/request/settle.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

/// Whether an option has no influence, given the values of others.
bool idle(std::string_view name, OptionUse use, const EstimatorOptions& e) {
  const bool frequencies = e.estimator == Estimator::discrete || e.estimator == Estimator::ordinal;
  if (use == OptionUse::ksg && e.estimator != Estimator::ksg) return true;
  if (use == OptionUse::frequencies && !frequencies) return true;
  if (use == OptionUse::ordinal && e.estimator != Estimator::ordinal) return true;
  if (use == OptionUse::surrogates && e.tested_analytically()) return true;
  if (name == "theiler_scope" || name == "theiler_count") return e.theiler == 0;
  if (name == "block_length") return e.surrogate_type != SurrogateMethod::block || !e.surrogates;
  if (name == "min_shift")
    return e.surrogate_type != SurrogateMethod::circular || !e.surrogates || !e.min_shift;
  return false;
}

bool is_of_other_method(OptionUse use, const NetworkRequest& r) {
  return use == (r.method == NetworkMethod::pairwise ? OptionUse::greedy : OptionUse::pairwise);
}

bool idle(std::string_view name, const LinkRequest& r) {
  return (name == "max_history" || name == "max_tau") && r.embedding == EmbeddingRule::given;
}

template <class R>
Json matters(const R& r) {
  static constexpr auto fields = R::fields();
  Json j = Json::object();
  for (const OptionInfo& o : fields) {
    if (o.aside || idle(o.name, o.use, r.estimator)) continue;
    if constexpr (std::is_base_of_v<LinkRequest, R>)
      if (idle(o.name, r)) continue;
    if constexpr (std::is_same_v<R, NetworkRequest>)
      if (is_of_other_method(o.use, r)) continue;
    if constexpr (std::is_same_v<R, MutualInformationRequest>)
      if (o.use == other_pairs(r)) continue;
    if (Json value = o.json(&r); !value.is_null()) j[std::string(o.name)] = std::move(value);
  }
  return j;
}

}  // namespace

Json options_json(const EntropyRequest& r) { return matters(r); }
Json options_json(const MutualInformationRequest& r) { return matters(r); }
Json options_json(const StorageRequest& r) { return matters(r); }
Json options_json(const TransferEntropyRequest& r) { return matters(r); }
Json options_json(const NetworkRequest& r) { return matters(r); }

void read_options(Options options, void* request, const Json& values, std::string_view analysis) {
  constexpr std::string_view derived[] = {"file",
                                          "header",
                                          "na",
                                          "decimal",
                                          "transpose",
                                          "p_value_convention",
                                          "comments",
                                          "test",
                                          "lag_correction",
                                          "storage_surrogates"};
  if (!values.is_object()) fail<InvalidArgument>(std::string(analysis) + ": options are a JSON object");
  for (const auto& [name, value] : values.items()) {
    const bool known = std::any_of(options.begin(), options.end(),
                                   [&name = name](const OptionInfo& o) { return o.called(name); });
    if (known || std::find(std::begin(derived), std::end(derived), name) == std::end(derived))
      find_option(options, name, analysis).set_json(request, value);
  }
}

CommandOptions command_options(Options options, const void* request, const void* usual) {
  CommandOptions all;
  for (const OptionInfo& o : options) {
    if (o.aside || o.equal(request, usual)) continue;
    const bool flag = o.option_kind == OptionKind::value && o.kind == FieldKind::flag;
    all.emplace_back(o.flag(), flag ? "" : o.text(request));
  }
  return all;
}

std::string other_options(const NetworkRequest& r) {
  static constexpr auto fields = NetworkRequest::fields();
  static const NetworkRequest usual = settled(NetworkRequest{});
  std::string all;
  for (const OptionInfo& o : fields)
    if (!o.told && !o.aside && !is_of_other_method(o.use, r) && !o.equal(&r, &usual) &&
        !idle(o.name, o.use, r.estimator) && !idle(o.name, r))
      all += (all.empty() ? "" : ", ") + std::string(o.name) + " " + o.text(&r);
  return all;
}

}  // namespace kolmo
