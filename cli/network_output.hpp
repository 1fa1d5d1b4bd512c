#pragma once
#include <string>
#include <vector>

#include "kolmo/flow/report/report.hpp"
#include "kolmo/flow/result/network_document.hpp"

namespace CLI {
class App;
}

namespace kolmo::cli {

/// The options of `kolmo network` that say what is written and how it is shown. They change no result.
class NetworkOutput {
 public:
  void add(CLI::App& command);
  /// Throws InvalidArgument for values of options that are not possible.
  void check() const;
  void write(const NetworkDocument& document, const ReportSeries& shown, int threads) const;
  /// The path of the checkpoint, which lies beside the first output that is a file; "" if no output is one.
  std::string checkpoint() const;
  bool to_standard_output() const;

 private:
  std::vector<const std::string*> paths() const { return {&out_, &report_, &graph_, &table_}; }

  std::string out_, report_, graph_, table_;
  bool graph_all_ = false;
};

/// Prints the significant links as a table, or of measure `ais` the own pasts, with the caution about them.
void print_links(const NetworkDocument& document);

}  // namespace kolmo::cli
