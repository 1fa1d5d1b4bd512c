#include "kolmo/flow/request/settle.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numbers>

#include "kolmo/runtime/device.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

bool has(OptionUse use, const EstimatorOptions& e) {
  switch (use) {
    case OptionUse::ksg:
      return e.estimator == Estimator::ksg;
    case OptionUse::frequencies:
      return e.estimator == Estimator::discrete || e.estimator == Estimator::ordinal;
    case OptionUse::ordinal:
      return e.estimator == Estimator::ordinal;
    case OptionUse::surrogates:
      return !e.tested_analytically();
    default:  // a method is no matter of the estimator
      return true;
  }
}

std::string users(OptionUse use) {
  return use == OptionUse::ksg ? "ksg" : use == OptionUse::ordinal ? "ordinal" : "discrete or ordinal";
}

void settle_device(AnalysisRequest& r) {
  if (r.estimator.estimator == Estimator::ksg) return;
  if (r.device == "auto") r.device = "cpu";
  const std::vector<Device> devices = parse_devices(r.device);
  const auto on_cpu = [](Device d) { return d.kind == DeviceKind::cpu; };
  if (!std::all_of(devices.begin(), devices.end(), on_cpu))
    fail<InvalidArgument>("--estimator " + std::string(estimator_names[std::size_t(r.estimator.estimator)]) +
                          " runs on the cpu, not on --device " + r.device);
}

template <class R>
void settle_common(R& r) {
  static constexpr auto fields = R::fields();
  static const R usual;
  for (const OptionInfo& o : fields)
    if (!o.equal(&r, &usual)) check_use(o, r.estimator);
  settle_device(r);
  r.preparation.seed = r.estimator.seed;
  r.estimator.f32 = r.precision == Precision::f32;
}

void check_step(const std::optional<double>& dt, const std::string& unit, const AnalysisRequest& r) {
  require(!dt || *dt > 0, "--dt: must be a number above 0");
  require(!dt || !unit.empty(), "--dt: needs --dt-unit, its unit");
  require(dt || unit.empty() || !r.time.empty(),
          "--dt-unit: needs --dt, the time between two rows, or --time, whose unit it is");
}

void check_local(const EstimateRequest& r) {
  check_step(r.dt, r.dt_unit, r);
  require(!r.local.empty() || !r.local_window,
          "--local-window: needs --local, the file that it is written to");
  require(!r.local.empty() || !r.local_over_trials,
          "--local-over-trials: needs --local, the file that it is written to");
  require(!r.local_over_trials || !r.local_window, "--local-over-trials excludes --local-window");
  require(!r.local.empty() || !r.dt, "--dt: needs --local, the file that times are written to");
  require(r.local.empty() || r.estimator.bias == Bias::none,
          "--local: --bias miller-madow corrects the mean, and no single value");
}

/// Throws InvalidArgument for an option of one pair beside --all-pairs, and for one of all pairs without.
void check_pairs(const MutualInformationRequest& r) {
  static constexpr auto fields = MutualInformationRequest::fields();
  static const MutualInformationRequest usual;
  for (const OptionInfo& o : fields) {
    if (o.use != other_pairs(r) || o.equal(&r, &usual)) continue;
    require(!r.all_pairs, o.flag() +
                              " is for one pair, and excludes --all-pairs; --columns names the columns of "
                              "which all pairs are taken");
    fail<InvalidArgument>(o.flag() + " is for --all-pairs, and there is none");
  }
}

void settle_link(LinkRequest& r, EmbeddingRule usual) {
  const bool asked = r.history || r.tau;
  require(!asked || !r.embedding || *r.embedding == EmbeddingRule::given,
          "--history and --tau need --embedding given");
  if (!r.embedding) r.embedding = asked ? EmbeddingRule::given : usual;
  if (*r.embedding == EmbeddingRule::given) r.history = r.history.value_or(1), r.tau = r.tau.value_or(1);
}

void settle_greedy(NetworkRequest& r) {
  GreedyOptions& g = r.greedy;
  const bool gaussian = r.estimator.estimator == Estimator::gaussian;
  const bool analytic =
      gaussian && g.measure != GreedyMeasure::mi;  // F tests hold given the target's own past
  for (auto* few : {&g.permutations_max_stat, &g.permutations_min_stat})
    *few = few->value_or(r.surrogates.value_or(analytic ? 0 : 200));
  for (auto* many : {&g.permutations_omnibus, &g.permutations_max_seq})
    *many = many->value_or(r.surrogates.value_or(analytic ? 0 : 500));
  r.estimator.surrogates = *g.permutations_max_stat;
  for (const auto* some : {&g.permutations_min_stat, &g.permutations_omnibus, &g.permutations_max_seq})
    require((**some == 0) == (r.estimator.surrogates == 0),
            "--permutations-max-stat, -min-stat, -omnibus and -max-seq: either all are 0 or none is; tests "
            "without surrogates are analytic, of --estimator gaussian");
  require(r.estimator.surrogates || gaussian,
          "--method " + std::string(network_method_names[std::size_t(r.method)]) +
              " chooses by tests: --surrogates 0 is for --estimator gaussian, whose tests are analytic");
  require(g.measure != GreedyMeasure::ais || !g.min_lag,
          "--min-lag: is of sources, of which --measure ais has none");
  require(g.measure != GreedyMeasure::mi || !g.max_lag_target,
          "--max-lag-target: is of the target's own past, which --measure mi leaves out");
  if (g.measure != GreedyMeasure::ais) g.min_lag = g.min_lag.value_or(1);
  if (g.measure != GreedyMeasure::mi) g.max_lag_target = g.max_lag_target.value_or(r.max_lag);
  const std::int64_t least = g.min_lag.value_or(1);
  require(least >= 1 || g.measure == GreedyMeasure::mi,
          "--min-lag 0: is for --measure mi; the same row of a source tells nothing of what comes next");
  require(least <= r.max_lag, "--min-lag: is above --max-lag");
  for (auto* level : {&g.alpha_max_stat, &g.alpha_min_stat, &g.alpha_omnibus, &g.alpha_max_seq})
    *level = level->value_or(r.alpha);
  if (g.compatible != GreedyRules::idtxl) return;
  if (r.estimator.surrogates) r.p_value = PValue::plain;
  if (r.estimator.estimator == Estimator::ksg && r.preparation.standardize == Standardize::columns)
    r.preparation.standardize = Standardize::series;
}

/// The surrogates of pairwise inference, and when tests end.
void settle_surrogates(NetworkRequest& r) {
  const bool analytic = r.estimator.estimator == Estimator::gaussian, plain = r.p_value == PValue::plain;
  const std::int64_t exceedances = r.exceedances.value_or(plain ? 0 : 10);
  require(!plain || exceedances == 0, "--exceedances: needs --p-value plus-one, and with plain must be 0");
  require(exceedances != 1, "--exceedances: must be 0, or 2 or more");
  r.surrogates = r.surrogates.value_or(analytic ? 0 : exceedances ? 100000 : 1000);
  r.estimator.surrogates = *r.surrogates;
  require(*r.surrogates || !r.exceedances.value_or(0),
          "--exceedances needs --surrogates, and there are none");
  if (*r.surrogates) r.exceedances = exceedances;
}

/// Throws InvalidArgument for an option that has not its default value and is of another method.
void check_method(const NetworkRequest& r) {
  static constexpr auto fields = NetworkRequest::fields();
  static const NetworkRequest usual;
  const bool greedy = r.method != NetworkMethod::pairwise;
  for (const OptionInfo& o : fields) {
    const bool other = o.use == (greedy ? OptionUse::pairwise : OptionUse::greedy);
    if (other && !o.equal(&r, &usual) && (greedy || !o.json(&r).is_null()))
      fail<InvalidArgument>(o.flag() + " is for --method " +
                            (greedy ? "pairwise" : "multivariate or bivariate") + ", not for --method " +
                            std::string(network_method_names[std::size_t(r.method)]));
  }
}

void set_link(NetworkOptions& n, const TestedRequest& tested, const LinkRequest& link) {
  n.embedding = link.embedding.value_or(EmbeddingRule::given);
  if (link.history) n.target = {*link.history, *link.tau};
  n.max_history = link.max_history, n.max_tau = link.max_tau, n.source = link.source;
  n.estimator = tested.estimator, n.p_value = tested.p_value;
}

}  // namespace

void check_use(const OptionInfo& o, const EstimatorOptions& e) {
  if (has(o.use, e)) return;
  if (o.use == OptionUse::surrogates)
    fail<InvalidArgument>(o.flag() +
                          " needs --surrogates: the test of --estimator gaussian is analytic without");
  fail<InvalidArgument>(o.flag() + " is for --estimator " + users(o.use) + ", not for --estimator " +
                        std::string(estimator_names[std::size_t(e.estimator)]));
}

double AnalysisRequest::factor() const { return bits() ? 1 / std::numbers::ln2 : 1; }

EntropyRequest settled(EntropyRequest r) {
  settle_common(r);
  return r;
}

OptionUse other_pairs(const MutualInformationRequest& r) {
  return r.all_pairs ? OptionUse::one_pair : OptionUse::all_pairs;
}

MutualInformationRequest settled(MutualInformationRequest r) {
  check_pairs(r), settle_common(r), check_local(r);
  return r;
}

StorageRequest settled(StorageRequest r) {
  settle_common(r), check_local(r);
  const bool ordinal = r.estimator.estimator == Estimator::ordinal;
  r.estimator.surrogate_type =
      r.surrogate_type.value_or(ordinal ? SurrogateMethod::circular : SurrogateMethod::permute);
  if (!r.estimator.tested_analytically()) r.surrogate_type = r.estimator.surrogate_type;
  return r;
}

TransferEntropyRequest settled(TransferEntropyRequest r) {
  require(r.source_lags.empty() || (r.lag == 1 && !r.max_lag && r.source.history == 1 && r.source.tau == 1),
          "--source-lags excludes --lag, --max-lag, --source-history and --source-tau: it names all lags");
  if (!r.target_lags.empty()) {
    const EmbeddingRule given = EmbeddingRule::given;
    require(r.embedding.value_or(given) == given && r.history.value_or(1) == 1 && r.tau.value_or(1) == 1,
            "--target-lags excludes --embedding, --history and --tau: it names all lags");
    r.embedding = given;
  }
  settle_common(r), check_local(r), settle_link(r, EmbeddingRule::given);
  require(!r.max_lag || r.lag == 1,
          "--max-lag excludes --lag: it takes the largest value over the lags 1 to N");
  return r;
}

NetworkRequest settled(NetworkRequest r) {
  require(r.alpha > 0 && r.alpha < 1, "--alpha: must lie between 0 and 1");
  if (r.method == NetworkMethod::pairwise) {
    settle_surrogates(r), settle_link(r, EmbeddingRule::ais);
  } else {
    settle_greedy(r);
  }
  const bool permuted = r.method != NetworkMethod::pairwise && r.greedy.compatible == GreedyRules::idtxl;
  const SurrogateMethod usual = permuted ? SurrogateMethod::permute : SurrogateMethod::circular;
  r.estimator.surrogate_type = r.surrogate_type.value_or(usual);
  check_method(r), settle_common(r), check_step(r.dt, r.dt_unit, r);
  if (!r.estimator.tested_analytically()) r.surrogate_type = r.estimator.surrogate_type;
  return r;
}

NetworkOptions network_options(const NetworkRequest& r) {
  NetworkOptions n;
  set_link(n, r, r);
  n.max_lag = r.max_lag, n.alpha = r.alpha, n.correction = r.correction;
  n.method = r.method, n.conditional_all = r.conditional_all;
  n.exceedances = r.exceedances.value_or(0);
  if (n.method == NetworkMethod::pairwise) return n;
  n.greedy = r.greedy, n.min_lag = r.greedy.min_lag.value_or(1), n.target.tau = r.tau.value_or(1);
  return n;
}

NetworkOptions network_options(const TransferEntropyRequest& r) {
  NetworkOptions n;
  set_link(n, r, r);
  n.min_lag = r.max_lag ? 1 : r.lag, n.max_lag = r.max_lag.value_or(r.lag);
  return n;
}

}  // namespace kolmo
