#pragma once
#include <string>
#include <vector>

#include "cli/analysis_options.hpp"
#include "kolmo/flow/infer/network.hpp"

namespace kolmo::cli {

/// Options common to `te`, which estimates one link, and `network`.
struct LinkOptions : AnalysisOptions {
  std::string given;
  NetworkOptions network;

  void add_link(CLI::App& command, EmbeddingRule embedding);
  /// After parsing: checks --embedding against --history and --tau, and completes `network`.
  void settle_link();
  /// --given as values of variables. Throws InvalidArgument, naming the column, for one of `links`.
  void read_given(Variables& variables, std::span<const std::int32_t> links);
  /// The options of embedding and lags with the values used, by name.
  void describe_link(nlohmann::ordered_json& options) const;

 private:
  CLI::Option *embedding_ = nullptr, *history_ = nullptr, *tau_ = nullptr;
};

/// The `te` command that estimates one link of a network: same value, and same p-value. Columns are numbers.
std::string te_command(const LinkOptions& options, const Series& series, const LinkResult& link,
                       const Embedding& target);

}  // namespace kolmo::cli
