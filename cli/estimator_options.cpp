#include "cli/estimator_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/analysis_options.hpp"
#include "kolmo/flow/data/ordinal.hpp"

namespace kolmo::cli {

void EstimatorFlags::add(CLI::App& c, EstimatorOptions& o) {
  command_ = &c;
  CLI::Option* const options[] = {
      add_choice(
          c, "--estimator", o.estimator, estimator_names,
          "nearest neighbours; covariances of linear relations; frequencies of few different values, or "
          "of ordinal patterns"),
      add_choice(c, "--bias", o.bias, bias_names, "correction of the frequencies of discrete and ordinal"),
      add_count(c, "--order", order, 2, 8, "values in an ordinal pattern"),
      add_count(c, "--order-delay", order_delay, 1, 1000000000, "rows between them")};
  for (CLI::Option* option : options) option->group("Common options");
}

bool EstimatorFlags::given(const std::string& name) const {
  const CLI::Option* option = command_->get_option_no_throw(name);
  return option && option->count();
}

void EstimatorFlags::settle(EstimatorOptions& o, DeviceOptions& device) const {
  if (!offered()) return;
  const std::string estimator(estimator_names[std::size_t(o.estimator)]);
  const auto only = [&](bool belongs, const std::string& option, const std::string& to) {
    if (!belongs && given(option))
      fail<InvalidArgument>(option + " is for --estimator " + to + ", not for --estimator " + estimator);
  };
  const bool ksg = o.estimator == Estimator::ksg, ordinal = o.estimator == Estimator::ordinal;
  for (const char* option : {"--neighbors", "--algorithm", "--theiler", "--theiler-scope", "--precision",
                             "--noise", "--standardize"})
    only(ksg, option, "ksg");
  only(o.estimator == Estimator::discrete || ordinal, "--bias", "discrete or ordinal");
  for (const char* option : {"--order", "--order-delay"}) only(ordinal, option, "ordinal");
  if (ksg) return;
  if (o.estimator == Estimator::gaussian && !given("--surrogates")) o.surrogates = 0;
  if (o.tested_analytically())
    for (const char* option : {"--surrogate-type", "--block-length", "--min-shift", "--p-value"})
      if (given(option))
        fail<InvalidArgument>(std::string(option) +
                              " needs --surrogates: the test of --estimator gaussian is analytic without");
  if (ordinal && !given("--surrogate-type")) o.surrogate_type = SurrogateMethod::circular;
  if (device.device == "auto") device.device = "cpu";
  if (parse_device(device.device).kind != DeviceKind::cpu)
    fail<InvalidArgument>("--estimator " + estimator + " runs on the cpu, not on --device " + device.device);
}

Series EstimatorFlags::symbols(const Series& series, const EstimatorOptions& o) const {
  return o.estimator == Estimator::ordinal ? ordinal_patterns(series, order, order_delay) : series;
}

}  // namespace kolmo::cli
