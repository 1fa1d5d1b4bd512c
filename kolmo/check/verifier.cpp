#include "kolmo/check/verifier.hpp"

#include <algorithm>

#include "kolmo/check/compare.hpp"
#include "kolmo/check/conformance.hpp"

namespace kolmo::check {

Verifier::Verifier(const OpBase& op, const Problem& problem, Stream& stream)
    : op_(op), problem_(problem), stream_(stream) {
  const auto cases = op.cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].benchmark_only || cases[i].dtype != problem.info().dtype) continue;
    Problem known(op, cases[i], i);
    HostTensors want = expected(oracle_of(op), known);
    cases_.push_back({std::move(known), std::move(want)});
    tolerance_ = std::max(tolerance_, cases[i].tolerance);
  }
  if (cases_.empty())
    fail<Unsupported>(std::string(op.name) + ": no case of this dtype is small enough for its oracle");
  by_default_ =
      outputs(problem_, RunOptions{entry_of(op).default_variant(problem.args(), stream.device().kind)});
  by_default_wide_ = widened(by_default_);
}

HostTensors Verifier::outputs(const Problem& problem, const RunOptions& options) {
  Placement placed(problem, stream_);
  run(op_, placed.args(), stream_, options);
  return placed.collect(stream_).outputs;
}

std::string Verifier::operator()(const RunOptions& options) {
  const auto expect_agreement = [&](const HostTensors& got, const HostTensors& want, double tolerance,
                                    const std::string& where) {
    const Comparison c = compare(op_, got, want, tolerance);
    expect(c.message.empty(), std::string(op_.name) + ": " + where + ": " + c.message);
  };
  for (const Known& k : cases_)
    if (entry_of(op_).fits(k.problem.args(), stream_.device().kind, options.variant))
      expect_agreement(outputs(k.problem, options), k.want, k.problem.info().tolerance,
                       "case '" + std::string(k.problem.info().name) + "'");
  const HostTensors got = outputs(problem_, options);
  if (bit_difference(op_, got, by_default_).empty()) return "exact";
  expect_agreement(got, by_default_wide_, 2 * tolerance_, "beside the default configuration");
  return "within tolerance";
}

}  // namespace kolmo::check
