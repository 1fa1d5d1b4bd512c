#pragma once
#include <string>
#include <vector>

#include "cli/time_options.hpp"
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
  /// Reads the file of --groups, once, as it may be a pipe. Throws if it is wrong.
  void read_groups(const std::vector<std::string>& variables);
  /// Adds the time step and the groups to a document.
  void describe(NetworkDocument& document) const;
  void write(const NetworkDocument& document, const Series& series,
             const std::vector<std::int32_t>& variables, int threads) const;
  /// The path of the checkpoint, which lies beside the first output that is a file; "" if no output is one.
  std::string checkpoint() const;
  bool to_standard_output() const;

 private:
  std::vector<const std::string*> paths() const { return {&out_, &report_, &graph_, &table_}; }

  std::string out_, report_, graph_, table_, groups_file_;
  VariableGroups groups_;
  bool graph_all_ = false;
  TimeOptions time_;
};

/// Prints the significant links as a table, with the caution about them.
void print_links(const NetworkDocument& document);

}  // namespace kolmo::cli
