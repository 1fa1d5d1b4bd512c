#pragma once
#include <limits>
#include <optional>
#include <string>

#include "kolmo/flow/infer/network.hpp"
#include "kolmo/flow/option/option.hpp"
#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {

// The request of an analysis holds what a user may choose, and fields() describes it, one option a line. From fields()
// follow the command's options and help, Python's signatures, docstrings and types, JSON in and out, what the methods text
// says of options that are not the default, and the reference page. A request is settled (request/settle.hpp) before it is
// run (flow/analysis).

enum class Units : std::int32_t { nats, bits };
inline constexpr std::string_view unit_names[] = {"nats", "bits"};
constexpr std::span<const std::string_view> names_of(Units) { return unit_names; }

enum class Precision : std::int32_t { f64, f32 };
inline constexpr std::string_view precision_names[] = {"f64", "f32"};
constexpr std::span<const std::string_view> names_of(Precision) { return precision_names; }

/// What every analysis of series has.
struct AnalysisRequest {
  std::string rows;
  Columns trials, time;
  std::string where;
  Preparation preparation;
  EstimatorOptions estimator;
  std::int64_t order = 3, order_delay = 1;
  Units units = Units::nats;
  Precision precision = Precision::f64;
  bool strict = false;
  std::string device = "auto";
  std::int64_t threads = 0;

  bool bits() const { return units == Units::bits; }
  /// What nats are multiplied by.
  double factor() const;

  /// Options of all estimators, and of nearest neighbours.
  static constexpr auto common_fields() {
    using R = AnalysisRequest;
    return common(join(
        within<&R::estimator>(EstimatorOptions::neighbor_fields()),
        within<&R::preparation>(Preparation::fields()), within<&R::estimator>(EstimatorOptions::seed_field()),
        list_of(
            value_option<&R::units>("units", "units of values").in_methods(),
            value_option<&R::precision>("precision",
                                        "f32 is 1e-5 to 4e-3 off and loses noise below 1e-7, and with it the "
                                        "order of equal values")
                .of(OptionUse::ksg),
            text_option<&R::rows>("rows", "START:END",
                                  "rows START to END - 1, from 0; either may be left out"),
            columns_option<&R::trials>(
                "trials",
                "which trial each row belongs to, as numbers or text; no embedding spans "
                "two trials")
                .for_files(),
            columns_option<&R::time>(
                "time",
                "when each row was measured: ISO dates or numbers, oldest first; absent rows end "
                "a set, as missing values do; none: every row is one step. If left out, the only "
                "column of dates, if there is one")
                .for_files(),
            text_option<&R::where>(
                "where", "COL[=VALUE]",
                "rows that count as the present: those where the column is not 0, or has the "
                "value; the past may reach into other rows")
                .for_files(),
            text_option<&R::device>(
                "device", "DEVICE",
                "where to compute: auto, cpu, cuda, cuda:N or simt (emulated GPU); several share "
                "the work, such as cuda:0,2 or cuda:all")
                .beside_the_result(),
            value_option<&R::threads>("threads", 0, 4096, "CPU threads; 0: every core").beside_the_result(),
            value_option<&R::strict>("strict", "a warning about the data or the result is an error")
                .beside_the_result())));
  }
  /// The choice of an estimator, and options of some of them.
  static constexpr auto estimator_fields() {
    using R = AnalysisRequest;
    return common(join(
        within<&R::estimator>(EstimatorOptions::estimator_fields()),
        list_of(value_option<&R::order>("order", 2, 8, "values in an ordinal pattern").of(OptionUse::ordinal),
                value_option<&R::order_delay>("order_delay", 1, max_rows, "rows between them")
                    .of(OptionUse::ordinal))));
  }
};

/// An analysis with surrogates.
struct TestedRequest : AnalysisRequest {
  PValue p_value = PValue::plus_one;

  static constexpr auto test_fields() {
    return common(join(
        inherited<TestedRequest, AnalysisRequest>(
            within<&AnalysisRequest::estimator>(EstimatorOptions::surrogate_fields())),
        list_of(value_option<&TestedRequest::p_value>(
                    "p_value",
                    "plus-one: (1 + #{surrogate >= observed}) / (1 + S); plain: #{surrogate >= observed} / S")
                    .of(OptionUse::surrogates)
                    .in_methods())));
  }
};

/// An estimate whose local values may be wanted, too.
struct EstimateRequest : TestedRequest {
  std::string local;
  std::optional<std::int64_t> local_window;
  bool local_over_trials = false;
  std::optional<double> dt;
  std::string dt_unit;

  static constexpr auto local_fields() {
    using R = EstimateRequest;
    return list_of(
        text_option<&R::local>("local", "FILE.csv",
                               "write the local value of every sample here; their mean is the estimate")
            .beside_the_result()
            .names_file(PathUse::out),
        value_option<&R::local_window>(
            "local_window", 1, max_rows,
            "with their mean over the samples of the last N rows, so that it is resolved in time")
            .if_left_out("without")
            .beside_the_result(),
        value_option<&R::local_over_trials>(
            "local_over_trials",
            "instead, their mean over trials at each step of time since a trial's first row")
            .beside_the_result(),
        value_option<&R::dt>("dt", 0.0, std::numeric_limits<double>::max(),
                             "time between two rows, for --local")
            .beside_the_result(),
        text_option<&R::dt_unit>("dt_unit", "UNIT", "its unit, such as s or year").beside_the_result());
  }
};

/// How p-values are corrected for testing all pairs.
template <auto M>
constexpr OptionInfo correction_option() {
  return value_option<M>("correction", "for testing all pairs: Benjamini-Hochberg, Bonferroni or none");
}

/// The options of R, which has all of EstimateRequest's, in the order of the help.
template <class R>
constexpr auto estimate_fields() {
  return join(inherited<R, AnalysisRequest>(AnalysisRequest::common_fields()),
              inherited<R, AnalysisRequest>(AnalysisRequest::estimator_fields()),
              inherited<R, TestedRequest>(TestedRequest::test_fields()),
              inherited<R, EstimateRequest>(EstimateRequest::local_fields()));
}

struct EntropyRequest : AnalysisRequest {
  Columns x;

  static constexpr auto fields() {
    return join(
        list_of(columns_option<&EntropyRequest::x>("x", "columns of the joint distribution").needed()),
        with_help(
            "device",
            "where to compute: auto, cpu, cuda, cuda:N or simt (emulated GPU); of several, such as cuda:0,2 "
            "or cuda:all, the first computes, and the next if that is lost",
            inherited<EntropyRequest, AnalysisRequest>(AnalysisRequest::common_fields())));
  }
};

/// Of the columns x and y, or of all pairs of columns.
struct MutualInformationRequest : EstimateRequest {
  Columns x, y, given, columns, exclude;
  bool all_pairs = false;
  Correction correction = Correction::bh;

  static constexpr auto fields() {
    using R = MutualInformationRequest;
    return join(
        of_use(OptionUse::one_pair,
               list_of(columns_option<&R::x>("x", "columns of x, the one that surrogates shuffle").needed(),
                       columns_option<&R::y>("y", "columns of y").needed())),
        list_of(columns_option<&R::given>("given", "columns conditioned on")),
        of_use(OptionUse::all_pairs,
               list_of(
                   value_option<&R::all_pairs>(
                       "all_pairs", "every two columns instead, with p-values adjusted for testing all pairs")
                       .for_files(),
                   columns_option<&R::columns>("columns", "columns of the pairs; all if none are named"),
                   columns_option<&R::exclude>("exclude", "columns left out"),
                   correction_option<&R::correction>())),
        inherited<R, AnalysisRequest>(AnalysisRequest::common_fields()),
        inherited<R, AnalysisRequest>(AnalysisRequest::estimator_fields()),
        inherited<R, TestedRequest>(TestedRequest::test_fields()),
        of_use(OptionUse::one_pair, inherited<R, EstimateRequest>(EstimateRequest::local_fields())));
  }
};

struct StorageRequest : EstimateRequest {
  Columns x;
  Embedding past{1, 1};
  std::optional<SurrogateMethod> surrogate_type;

  static constexpr auto fields() {
    using R = StorageRequest;
    return join(
        list_of(columns_option<&R::x>("x", "the column").needed()),
        within<&R::past>(list_of(value_option<&Embedding::history>("history", 1, 16, "past values"),
                                 value_option<&Embedding::tau>("tau", 1, max_rows, "rows between them"))),
        without("surrogate_type", estimate_fields<R>()),
        common(list_of(value_option<&R::surrogate_type>("surrogate_type",
                                                        "how surrogates are made; see docs/surrogates.md")
                           .if_left_out("permute; of the estimator ordinal, whose patterns overlap, circular")
                           .of(OptionUse::surrogates))));
  }
};

/// The embedding of a link, from a source to a target.
struct LinkRequest {
  Columns given;
  std::optional<EmbeddingRule> embedding;
  std::optional<std::int64_t> history, tau;
  std::int64_t max_history = 4, max_tau = 1;
  Embedding source{1, 1};

  static constexpr auto fields() {
    using R = LinkRequest;
    return told(join(
        list_of(
            lagged_option<&R::given>("given",
                                     "variables conditioned on: COL[:LAG] or COL:FIRST-LAST, "
                                     "comma-separated; a lag is in rows before the "
                                     "target's next value, 1 if none is given")
                .also("add_conditionals"),
            value_option<&R::embedding>("embedding",
                                        "how the target's past is chosen: largest bias-corrected active "
                                        "information storage, smallest "
                                        "prediction error, or as given by history and tau")
                .if_left_out("given where history or tau is; else ais in a network, and given for one link"),
            value_option<&R::max_history>("max_history", 1, 16, "longest past tried by ais and ragwitz"),
            value_option<&R::max_tau>("max_tau", 1, max_rows, "largest step tried by ais and ragwitz"),
            value_option<&R::history>("history", 1, 16, "past values of the target")
                .also("target_history")
                .if_left_out("1"),
            value_option<&R::tau>("tau", 1, max_rows, "rows between them")
                .also("target_tau")
                .if_left_out("1")),
        within<&R::source>(
            list_of(value_option<&Embedding::history>("source_history", 1, 16, "past values of the source"),
                    value_option<&Embedding::tau>("source_tau", 1, max_rows, "rows between them")
                        .also("tau_sources")))));
  }
};

struct TransferEntropyRequest : EstimateRequest, LinkRequest {
  Columns source_column, target_column, complete;
  std::int64_t lag = 1, reach = 0;
  std::optional<std::int64_t> max_lag;
  std::string source_lags, target_lags;

  static constexpr auto fields() {
    using R = TransferEntropyRequest;
    return join(list_of(columns_option<&R::source_column>("source", "the source's column").needed(),
                        columns_option<&R::target_column>("target", "the target's column").needed(),
                        value_option<&R::lag>("lag", 1, max_rows,
                                              "rows from the newest source value to the target's next value"),
                        value_option<&R::max_lag>(
                            "max_lag", 1, max_rows,
                            "lags 1 to N instead: the value is the largest over them, as in a network")
                            .if_left_out("the one lag"),
                        text_option<&R::source_lags>(
                            "source_lags", "LAGS",
                            "lags of source values that are taken together, such as 1-2,4, instead of lag, "
                            "source_history and source_tau"),
                        text_option<&R::target_lags>(
                            "target_lags", "LAGS",
                            "lags of the target's own past in the condition, instead of history and tau; "
                            "0: none"),
                        value_option<&R::reach>("reach", 0, max_rows,
                                                "rows that every sample has before it at least, so that it "
                                                "is the same sample as in a network of such lags")),
                inherited<R, LinkRequest>(LinkRequest::fields()),
                list_of(columns_option<&R::complete>(
                            "complete", "rows in which these columns have no value are left out too")
                            .for_files()),
                estimate_fields<R>());
  }
};

/// The options of a link, of which a greedy search has given, tau and source_tau only.
template <std::size_t N>
constexpr std::array<OptionInfo, N> of_pairwise(std::array<OptionInfo, N> options) {
  for (OptionInfo& o : options)
    if (o.name != "given" && o.name != "tau" && o.name != "source_tau") o.use = OptionUse::pairwise;
  return options;
}

struct NetworkRequest : TestedRequest, LinkRequest {
  NetworkMethod method = NetworkMethod::pairwise;
  bool conditional_all = false;
  GreedyOptions greedy;
  Columns columns, exclude;
  std::int64_t max_lag = 5;
  std::optional<std::int64_t> surrogates, exceedances;
  std::optional<SurrogateMethod> surrogate_type;
  double alpha = 0.05;
  Correction correction = Correction::bh;
  std::optional<double> dt;
  std::string dt_unit, groups;

  static constexpr auto fields() {
    using R = NetworkRequest;
    return join(
        list_of(
            value_option<&R::method>("method",
                                     "every pair by itself; or values in the past that are chosen one "
                                     "after another given those before them, from all sources together "
                                     "(multivariate) or from each (bivariate): docs/multivariate.md")
                .in_methods(),
            value_option<&R::conditional_all>("conditional_all",
                                              "condition each pair on the values of all other variables at "
                                              "lags 1 to max_lag; for small systems, as a condition has 16 "
                                              "values at most")
                .of(OptionUse::pairwise)
                .in_methods(),
            value_option<&R::max_lag>("max_lag", 1, max_rows,
                                      "lags 1 to N; a link's value is the largest over them")
                .also("max_lag_sources")
                .in_methods(),
            value_option<&R::surrogates>(
                "surrogates", 0, max_surrogates,
                "surrogates for the p-value of a link, at most; 0: none, and no link is claimed")
                .if_left_out("100000, which few links need; with exceedances 0 1000; of the estimator "
                             "gaussian 0, as its "
                             "test is analytic")
                .in_methods(),
            value_option<&R::exceedances>("exceedances", 0, 1000,
                                          "a link gets no more surrogates once so many have reached its "
                                          "value, and none does once all links that "
                                          "are left are significant at half the level; 0: each gets as many")
                .if_left_out("10; of p_value plain 0")
                .of(OptionUse::pairwise)
                .in_methods(),
            columns_option<&R::columns>("columns", "variables of the network; all if none are named"),
            columns_option<&R::exclude>("exclude", "variables left out")),
        of_pairwise(inherited<R, LinkRequest>(LinkRequest::fields())),
        within<&R::greedy>(GreedyOptions::fields()),
        told(list_of(value_option<&R::alpha>("alpha", 0.0, 1.0, "level of significance"),
                     correction_option<&R::correction>())),
        inherited<R, AnalysisRequest>(AnalysisRequest::common_fields()),
        inherited<R, AnalysisRequest>(AnalysisRequest::estimator_fields()),
        without("surrogate_type",
                without("surrogates", inherited<R, TestedRequest>(TestedRequest::test_fields()))),
        common(list_of(value_option<&R::surrogate_type>("surrogate_type",
                                                        "how surrogates are made; see docs/surrogates.md")
                           .if_left_out("circular; of compatible idtxl permute")
                           .of(OptionUse::surrogates)
                           .in_methods())),
        list_of(
            value_option<&R::dt>("dt", 0.0, std::numeric_limits<double>::max(),
                                 "time between two rows, to show lags in time as well")
                .beside_the_result(),
            text_option<&R::dt_unit>("dt_unit", "UNIT", "its unit, such as s or year").beside_the_result(),
            text_option<&R::groups>("groups", "FILE.csv",
                                    "lines variable,group: order and colour of variables in figures")
                .beside_the_result()
                .names_file(PathUse::in)));
  }
};

}  // namespace kolmo
