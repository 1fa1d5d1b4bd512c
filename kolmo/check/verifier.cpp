#include "kolmo/check/verifier.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "kolmo/check/compare.hpp"
#include "kolmo/check/conformance.hpp"
#include "kolmo/op/bind.hpp"

namespace kolmo::check {
namespace {

HostTensors outputs(const OpBase& op, const Problem& problem, Stream& stream, const RunOptions& options) {
  Placement placed(problem, stream);
  run(op, placed.args(), stream, options);
  return placed.collect(stream).outputs;
}

void expect_agrees(const OpBase& op, const Comparison& c, const std::string& where) {
  expect(c.message.empty(), std::string(op.name) + ": " + where + ": " + c.message);
}

}  // namespace

OracleCases::OracleCases(const OpBase& op, DType dtype, const Stream& stream) : op_(op), stream_(stream) {
  const auto cases = op.cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].benchmark_only || cases[i].dtype != dtype) continue;
    Problem known(op, cases[i], i);
    Truth truth(oracle_of(op), known);
    cases_.push_back({std::move(known), std::move(truth)});
  }
  if (cases_.empty())
    fail<Unsupported>(std::string(op.name) + ": no case of this dtype is small enough for its oracle");
}

void OracleCases::expect_agreement(const RunOptions& options) {
  for (const Known& k : cases_)
    if (entry_of(op_).fits(k.problem.args(), stream_.device().kind, options.variant))
      expect_agrees(op_, k.truth.compare(k.problem, outputs(op_, k.problem, stream_, options)),
                    "case '" + std::string(k.problem.info().name) + "'");
}

std::vector<OutputTolerance> OracleCases::widest() const {
  std::vector<OutputTolerance> all;
  for (const FieldInfo& f : op_.fields()) {
    if (!f.is_tensor() || !f.is_output()) continue;
    Tolerance widest{};
    for (const Known& k : cases_) {
      const Tolerance t = tolerance_of(k.problem.info(), f.name);
      widest = {std::max(widest.absolute, t.absolute), std::max(widest.relative, t.relative)};
    }
    all.push_back({f.name, widest});
  }
  return all;
}

Verifier::Verifier(const OpBase& op, const Problem& problem, Stream& stream)
    : op_(op),
      problem_(problem),
      stream_(stream),
      cases_(op, problem.info().dtype, stream),
      by_default_(outputs(op, problem, stream_,
                          {entry_of(op).default_variant(problem.args(), stream.device().kind)})),
      by_default_wide_(widened(by_default_)) {}

std::string Verifier::operator()(const RunOptions& options) {
  cases_.expect_agreement(options);
  const HostTensors got = outputs(op_, problem_, stream_, options);
  if (bit_difference(op_, got, by_default_).empty()) return "exact";
  if (oracle_of(op_).judges()) {
    expect_agrees(op_, Truth(oracle_of(op_), problem_).compare(problem_, got), "the problem");
  } else {
    const auto widest = cases_.widest();
    expect_agrees(op_, compare(op_, got, by_default_wide_, {.tolerances = widest}, 2),
                  "beside the default configuration");
  }
  return "within tolerance";
}

std::function<std::string(const OpBase&, const void*, const RunOptions&)> by_oracle(const Stream& stream) {
  using Known = std::map<std::pair<const OpBase*, DType>, OracleCases>;
  return [stream, known = std::make_shared<Known>()](const OpBase& op, const void* args,
                                                     const RunOptions& options) {
    const DType dtype = common_dtype(op, args);
    known->try_emplace({&op, dtype}, op, dtype, stream).first->second.expect_agreement(options);
    return "within tolerance";
  };
}

}  // namespace kolmo::check
