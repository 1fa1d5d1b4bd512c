#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kolmo/flow/analysis/session.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/infer/prepare.hpp"
#include "kolmo/flow/report/report.hpp"
#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// The inference of one network: data and options, looked at, settled and checked. Targets are numbers of columns of the
/// session's table.
class NetworkAnalysis {
 public:
  /// Takes a settled request and a session before Session::prepare(). Throws InvalidArgument, naming option, column or row,
  /// for what cannot be inferred from, and for more variables than this machine has memory for. The session must outlive
  /// the analysis.
  NetworkAnalysis(const NetworkRequest& request, Session& session);

  NetworkAnalysis(const NetworkAnalysis&) = delete;

  const Series& series() const { return series_; }
  const NetworkOptions& options() const { return prepared_->options; }
  const NetworkRequest& request() const { return request_; }
  const std::vector<std::size_t>& targets() const { return targets_; }
  /// Identifies data and options; the key of a checkpoint.
  std::string key() const;
  /// The targets whose records are not all in `work`.
  std::vector<std::size_t> unfinished(const FinishedWork::Records& work) const;

  /// Infers the links to all targets. `work` may be null.
  Network infer(const Streams& streams, FinishedWork* work);
  /// A step for some targets (infer_step), whose records are added to `work`.
  void step(const std::vector<std::size_t>& targets, const Streams& streams, FinishedWork& work);
  /// The result as a document, with its warnings and the command that reproduces each link. `command` and `device` are those
  /// of the run; `data_path` names the file whose checksum is told, if there is one.
  NetworkDocument document(const Network& network, const std::string& command, const Streams& streams,
                           const std::string& data_path);
  /// The series that the report shows.
  ReportSeries shown() const;

 private:
  /// Shows how far the work for so many targets is, where that is wanted.
  void show(std::optional<Progress>& progress, std::size_t targets) const;

  NetworkRequest request_;
  Session& session_;
  Series series_;
  std::optional<PreparedNetwork> prepared_;  // of series_
  std::vector<std::size_t> targets_;
  VariableGroups groups_;
};

/// The `kolmo te` command that estimates one link of a network: same value, and same p-value. Columns are numbers.
std::string te_command(const NetworkRequest& request, const Session& session, const Series& series,
                       const NetworkOptions& options, const LinkResult& link, const Embedding& target);

/// Returns the `kolmo te` command of a link that a greedy search chose. The command gives the value of the link, and the p-value of
/// this value alone. Returns "" for other links.
std::string chosen_te_command(const NetworkRequest& request, const Session& session, const Series& series,
                              const NetworkOptions& options, const LinkResult& link,
                              const TargetSelection& found);

/// A text as one word of a shell's command line.
std::string shell_word(const std::string& text);

}  // namespace kolmo
