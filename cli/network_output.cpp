#include "cli/network_output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "cli/files.hpp"
#include "cli/table.hpp"
#include "kolmo/base/error.hpp"
#include "kolmo/base/number_text.hpp"
#include "kolmo/flow/report/report.hpp"
#include "kolmo/flow/result/graph_export.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "kolmo/flow/result/storage_table.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo::cli {

void NetworkOutput::add(CLI::App& c) {
  add_output(c, "--out", out_, "write the result here")->type_name("FILE.json");
  add_output(c, "--report", report_, "write a page to read here")->type_name("FILE.html");
  add_output(c, "--table", table_,
             "write one row for each ordered pair here; of --measure ais, for each variable")
      ->type_name("FILE.csv");
  add_output(c, "--graph", graph_, "write the graph here")->type_name("FILE.graphml|.dot");
  c.add_flag("--graph-all", graph_all_, "the graph holds all pairs; significant ones are marked");
}

void NetworkOutput::check() const {
  require(graph_.empty() || graph_.ends_with(".graphml") || graph_.ends_with(".dot"),
          "--graph: '" + graph_ + "' ends neither in .graphml nor in .dot");
  require(!graph_all_ || !graph_.empty(), "--graph-all: needs --graph");
  int printed = 0;
  for (const std::string* path : paths()) printed += *path == "-";
  require(printed < 2, "--out, --report, --table and --graph: only one can go to standard output");
}

void NetworkOutput::write(const NetworkDocument& document, const ReportSeries& shown, int threads) const {
  std::vector<std::pair<std::string, std::string>> files;
  if (!out_.empty()) files.emplace_back(out_, network_text(document, threads));
  if (!report_.empty()) files.emplace_back(report_, html_report(document, shown));
  if (!table_.empty()) files.emplace_back(table_, link_table_csv(document));
  if (!graph_.empty()) {
    const GraphLinks links = graph_all_ ? GraphLinks::all : GraphLinks::significant;
    files.emplace_back(graph_, graph_.ends_with(".dot") ? dot(document, links) : graphml(document, links));
  }
  write_results(files);
}

std::string NetworkOutput::checkpoint() const {
  for (const std::string* path : paths())
    if (!path->empty() && is_regular(*path)) return *path + ".partial";
  return "";
}

bool NetworkOutput::to_standard_output() const {
  const auto all = paths();
  return std::any_of(all.begin(), all.end(), [](const std::string* path) { return *path == "-"; });
}

namespace {

/// Prints the largest values of a network whose links were not tested.
void print_untested(const NetworkDocument& d) {
  constexpr std::size_t most = 20;
  std::vector<const NetworkLink*> links;
  for (const NetworkLink& l : d.links) links.push_back(&l);
  std::stable_sort(links.begin(), links.end(),
                   [](const NetworkLink* a, const NetworkLink* b) { return a->value > b->value; });
  links.resize(std::min(most, links.size()));
  TextTable table({"source", "target", ">lag", ">" + d.units});
  for (const NetworkLink* l : links)
    table.add({printable(d.variables[l->source], 200), printable(d.variables[l->target], 200),
               printable(d.lag_text(l->lag), 200), significant(l->value, 4)});
  table.print(std::cout);
  std::cout << d.links.size() << " links, none of them tested: without surrogates";
  if (d.links.size() > most) std::cout << "; these are the " << most << " of the largest values";
  std::cout << "\ncaution: " << printable(caution(d), 4096) << '\n';
}

/// Prints the own past of each variable.
void print_storage(const NetworkDocument& d) {
  TextTable table({"variable", ">lags", ">" + d.units, ">p-value"});
  for (const NetworkTarget& t : d.targets)
    table.add({printable(d.variables[t.target], 200), printable(d.lags_text(own_lags(t)), 200),
               significant(t.active_information_storage, 4), storage_test(d, t).text});
  table.print(std::cout);
  std::cout << "own past of " << storing_variables(d) << " of " << d.targets.size()
            << " variables significant at alpha = " << number_text(d.request.alpha) << ", ";
  if (d.analytic())
    std::cout << "F test\n";
  else
    std::cout << *d.request.greedy.permutations_omnibus << ' '
              << surrogate_method_names[std::size_t(d.request.estimator.surrogate_type)]
              << " surrogates, p = " << p_value_formula(d.request.p_value) << '\n';
  std::cout << "caution: " << printable(caution(d), 4096) << '\n';
}

}  // namespace

void print_links(const NetworkDocument& d) {
  if (d.only_storage()) return print_storage(d);
  if (!d.tested()) return print_untested(d);
  std::vector<std::string> head{"source", "target", d.greedy() ? ">lags" : ">lag", ">" + d.units};
  if (d.compared()) head.insert(head.end(), {">bias-corrected", ">z"});
  head.insert(head.end(), {">p-value", ">adjusted"});
  TextTable table(std::move(head));
  const auto links = d.significant_links();
  for (const NetworkLink* l : links) {
    std::vector<std::string> row{
        printable(d.variables[l->source], 200), printable(d.variables[l->target], 200),
        printable(d.greedy() ? d.lags_text(l->lags) : d.lag_text(l->lag), 200), significant(l->value, 4)};
    if (d.compared())
      row.insert(row.end(), {significant(bias_corrected(*l), 4), significant(z_score(*l), 3)});
    row.insert(row.end(), {p_text(d, *l), significant(l->p_adjusted, 3)});
    table.add(std::move(row));
  }
  if (!table.empty()) table.print(std::cout);
  const bool yekutieli = d.idtxl() && d.request.correction == Correction::bh;
  std::cout << links.size() << " of " << d.links.size()
            << " links significant at alpha = " << number_text(d.request.alpha) << ", correction "
            << correction_names[std::size_t(d.request.correction)]
            << (yekutieli ? " of Benjamini and Yekutieli, " : ", ");
  if (d.analytic())
    std::cout << "F test" << (d.request.max_lag > 1 ? ", Sidak over the lags" : "") << '\n';
  else
    std::cout << surrogates_used(d) << ' '
              << surrogate_method_names[std::size_t(d.request.estimator.surrogate_type)]
              << " surrogates, p = " << p_value_formula(d.request.p_value) << '\n';
  if (!links.empty()) std::cout << "caution: " << printable(caution(d), 4096) << '\n';
}

}  // namespace kolmo::cli
