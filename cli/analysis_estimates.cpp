#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/analysis.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/table.hpp"
#include "kolmo/flow/analysis/catalogue.hpp"
#include "kolmo/flow/analysis/estimates.hpp"
#include "kolmo/flow/analysis/mutual_information_matrix.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// "target_history" as "target history".
std::string words(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

void print_object(const Json& j) {
  std::cout << j.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void print(const EstimateResult& r, PValue convention, std::string_view estimator,
           const std::string& device) {
  std::vector<std::string> head{"measure", "of", ">" + r.units},
      row{r.measure, r.of, significant(r.value * r.factor, 6)};
  if (!r.test.empty())
    head.emplace_back(">p-value"), row.push_back(p_text(r.p_value, r.surrogate_count, convention));
  if (r.surrogate_count) head.emplace_back(">surrogates"), row.push_back(std::to_string(r.surrogate_count));
  head.insert(head.end(), {">samples", ">time"});
  row.insert(row.end(), {std::to_string(r.samples), duration(r.seconds)});
  TextTable table(std::move(head));
  table.add(std::move(row));
  table.print(std::cout);
  std::string embedding;
  for (const auto& [key, option] : r.roles.items())
    if (option.is_number()) embedding += (embedding.empty() ? "" : ", ") + words(key) + " " + option.dump();
  if (!embedding.empty()) std::cout << embedding << '\n';
  if (r.surrogate_count) std::cout << "p = " << r.p_value_formula << ", " << r.surrogates_made << '\n';
  if (!r.test.empty() && !r.surrogate_count) std::cout << "p of the " << r.test << " test\n";
  if (estimator != "ksg") std::cout << "estimator: " << estimator << '\n';
  std::cout << "device: " << device << '\n';
}

/// The numbers of surrogates of all pairs, such as "200" or "157 to 197".
std::string surrogates_used(const std::vector<PairResult>& pairs) {
  const auto [least, most] = std::minmax_element(
      pairs.begin(), pairs.end(),
      [](const PairResult& a, const PairResult& b) { return a.surrogate_count < b.surrogate_count; });
  const std::string first = std::to_string(least->surrogate_count);
  const bool same = least->surrogate_count == most->surrogate_count;
  return same ? first : first + " to " + std::to_string(most->surrogate_count);
}

void print(const MutualInformationMatrix& m, const std::string& device) {
  const MutualInformationRequest& r = m.request;
  const std::string units(unit_names[std::size_t(r.units)]);
  const bool compared = r.estimator.surrogates > 0, tested = !m.test.empty();
  std::vector<std::string> head{"x", "y", ">" + units};
  if (compared) head.emplace_back(">bias-corrected");
  if (tested) head.insert(head.end(), {">p-value", ">adjusted"});
  head.emplace_back(">samples");
  TextTable table(std::move(head));
  for (const PairResult& p : m.pairs) {
    std::vector<std::string> row{printable(m.variables[std::size_t(p.x)], 200),
                                 printable(m.variables[std::size_t(p.y)], 200),
                                 significant(p.value * r.factor(), 6)};
    if (compared) row.push_back(significant((p.value - p.surrogates.mean) * r.factor(), 4));
    if (tested)
      row.insert(row.end(), {p_text(p.p_value, p.surrogate_count, r.p_value), significant(p.p_adjusted, 3)});
    row.push_back(std::to_string(p.samples));
    table.add(std::move(row));
  }
  table.print(std::cout);
  std::cout << m.pairs.size() << (m.pairs.size() == 1 ? " pair" : " pairs");
  if (tested) std::cout << ", correction " << correction_names[std::size_t(r.correction)];
  if (compared)
    std::cout << ", " << surrogates_used(m.pairs) << ' '
              << surrogate_method_names[std::size_t(r.estimator.surrogate_type)]
              << " surrogates, p = " << p_value_formula(r.p_value);
  else if (tested)
    std::cout << ", p of the " << m.test << " test";
  if (r.estimator.estimator != Estimator::ksg)
    std::cout << "\nestimator: " << estimator_names[std::size_t(r.estimator.estimator)];
  std::cout << "\ndevice: " << device << ", " << duration(m.seconds) << '\n';
}

template <class R>
struct EstimateFlags : AnalysisFlags {
  R request;
};

template <class R>
void run(EstimateFlags<R>& flags) {
  static constexpr auto fields = R::fields();
  const R request = settled(flags.request);
  flags.check_given(fields, request.estimator);
  PValue convention = PValue::plus_one;
  bool to_standard_output = false;
  if constexpr (std::is_base_of_v<EstimateRequest, R>) {
    convention = request.p_value, to_standard_output = request.local == "-";
    require(!to_standard_output || !flags.json, "--local and --json: only one can go to standard output");
  }
  const Streams streams = flags.open(request);
  Session session = flags.load();
  if constexpr (std::is_same_v<R, MutualInformationRequest>)
    if (request.all_pairs) {
      const MutualInformationMatrix matrix = mutual_information_matrix(request, session, streams);
      return flags.json ? print_object(matrix_json(matrix)) : print(matrix, describe(streams));
    }
  const EstimateResult result = analyse(request, session, streams);
  if (!result.local_path.empty()) write_results({{result.local_path, result.local}});
  if (to_standard_output) return;
  if (flags.json)
    print_object(estimate_json(result));
  else
    print(result, convention, estimator_names[std::size_t(request.estimator.estimator)], describe(streams));
}

template <class R>
void add(CLI::App& app, std::string_view name) {
  const AnalysisInfo& info = find_analysis(name);
  CLI::App* const c = app.add_subcommand(std::string(name), std::string(info.summary));
  const auto flags = std::make_shared<EstimateFlags<R>>();
  flags->add(*c, info.options, &flags->request);
  c->footer(std::string(info.about) + "\nExample:\n  " + std::string(info.example) + "\n" + columns_help);
  c->callback([flags] { run(*flags); });
}

}  // namespace

void add_entropy(CLI::App& app, Context&) { add<EntropyRequest>(app, "entropy"); }
void add_mi(CLI::App& app, Context&) { add<MutualInformationRequest>(app, "mi"); }
void add_te(CLI::App& app, Context&) { add<TransferEntropyRequest>(app, "te"); }
void add_ais(CLI::App& app, Context&) { add<StorageRequest>(app, "ais"); }

}  // namespace kolmo::cli
