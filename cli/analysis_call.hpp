#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kolmo/flow/data/warning.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo::cli {

/// An analysis command that another program calls. The command takes its table from here instead of a file, and gives
/// its result here instead of printing it. It prints nothing and handles no signals.
struct AnalysisCall {
  Table table;  ///< used up; its name stands for FILE
  std::function<void(double done, double total)> progress{};
  // Of network only:
  FinishedWork::Records finished{};  ///< work of earlier calls with the same data and options
  std::vector<std::size_t>
      targets{};             ///< columns; if there are any, only their records are computed, and no result
  bool plan = false;         ///< nothing is computed: `targets` becomes the columns of targets that lack work
  std::string checkpoint{};  ///< the file of Checkpoint; empty: none

  nlohmann::ordered_json result{};   ///< what --json prints; of network the document of --out
  std::vector<Warning> warnings{};   ///< every warning that the command would print
  std::vector<std::string> notes{};  ///< and every note
  FinishedWork::Records records{};   ///< of network: all finished work
};

/// Runs "entropy", "mi", "te", "ais" or "network" with options as on the command line, such as "--surrogates=100",
/// without FILE and without the options of reading it, of trials (see Table::trial), of monitoring and of printing.
/// Throws InvalidArgument, naming the option, for what the parser refuses, and otherwise what the command fails with.
/// Different threads may call at once; see Interruptible for giving up.
void analyse(const std::string& command, const std::vector<std::string>& options, AnalysisCall& call);

/// What analyse() accepts: "name" without dashes, "type", "default" and "help" of each option.
nlohmann::ordered_json analysis_options(const std::string& command);

}  // namespace kolmo::cli
