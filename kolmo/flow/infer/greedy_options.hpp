#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kolmo/flow/option/option.hpp"

namespace kolmo {

/// Selects how a network is inferred. `pairwise` takes every pair by itself. `multivariate` chooses for each target values one
/// after another, from all sources together; `bivariate` chooses them from each source by itself.
enum class NetworkMethod : std::int32_t { pairwise, multivariate, bivariate };
inline constexpr std::string_view network_method_names[] = {"pairwise", "multivariate", "bivariate"};
constexpr std::span<const std::string_view> names_of(NetworkMethod) { return network_method_names; }

/// Selects what a greedy search measures: `te` information of sources given the target's own past, `mi` without it, `ais`
/// information of the own past alone.
enum class GreedyMeasure : std::int32_t { te, mi, ais };
inline constexpr std::string_view greedy_measure_names[] = {"te", "mi", "ais"};
constexpr std::span<const std::string_view> names_of(GreedyMeasure) { return greedy_measure_names; }

/// Whose rules a greedy search follows, see GreedySearch.
enum class GreedyRules : std::int32_t { none, idtxl };
inline constexpr std::string_view greedy_rules_names[] = {"none", "idtxl"};
constexpr std::span<const std::string_view> names_of(GreedyRules) { return greedy_rules_names; }

/// The most values in the condition of an estimate.
inline constexpr std::int64_t most_conditions = 16;

/// Options of a greedy search. Those that may be left out are settled with the request (request/settle.hpp).
struct GreedyOptions {
  GreedyMeasure measure = GreedyMeasure::te;
  std::optional<std::int64_t> min_lag;
  std::optional<std::int64_t> max_lag_target;
  std::int64_t max_conditions = most_conditions;
  std::optional<std::int64_t> permutations_max_stat, permutations_min_stat, permutations_omnibus,
      permutations_max_seq;
  std::optional<double> alpha_max_stat, alpha_min_stat, alpha_omnibus, alpha_max_seq;
  GreedyRules compatible = GreedyRules::none;

  static constexpr std::int64_t most_permutations = 1000000;

  static constexpr auto fields() {
    using G = GreedyOptions;
    constexpr const char *of_max = "surrogates for each value that joins (maximum statistic)",
                         *of_min = "surrogates for pruning (minimum statistic)",
                         *of_all = "surrogates for all chosen sources together (omnibus test)",
                         *of_each = "surrogates for each chosen value given all others";
    constexpr const char *many = "surrogates, or else 200; of the estimator gaussian 0, unless measure is mi",
                         *more = "surrogates, or else 500; of the estimator gaussian 0, unless measure is mi";
    auto all = told(list_of(
        value_option<&G::measure>("measure",
                                  "transfer entropy; mutual information, without the target's past; or the "
                                  "target's past alone (active information storage)"),
        value_option<&G::min_lag>("min_lag", 0, 1000000000, "the shortest lag of sources; 0 for mi only")
            .if_left_out("1"),
        value_option<&G::max_lag_target>("max_lag_target", 1, 1000000000,
                                         "the longest lag of the target's own past")
            .if_left_out("max_lag"),
        value_option<&G::max_conditions>("max_conditions", 1, most_conditions,
                                         "values that are chosen for a target at most"),
        value_option<&G::permutations_max_stat>("permutations_max_stat", 0, most_permutations, of_max)
            .if_left_out(many)
            .also("n_perm_max_stat"),
        value_option<&G::permutations_min_stat>("permutations_min_stat", 0, most_permutations, of_min)
            .if_left_out(many)
            .also("n_perm_min_stat"),
        value_option<&G::permutations_omnibus>("permutations_omnibus", 0, most_permutations, of_all)
            .if_left_out(more)
            .also("n_perm_omnibus"),
        value_option<&G::permutations_max_seq>("permutations_max_seq", 0, most_permutations, of_each)
            .if_left_out(more)
            .also("n_perm_max_seq"),
        value_option<&G::alpha_max_stat>("alpha_max_stat", 0.0, 1.0, "level of each value that joins")
            .if_left_out("alpha"),
        value_option<&G::alpha_min_stat>("alpha_min_stat", 0.0, 1.0, "level of pruning").if_left_out("alpha"),
        value_option<&G::alpha_omnibus>("alpha_omnibus", 0.0, 1.0, "level of all sources together")
            .if_left_out("alpha"),
        value_option<&G::alpha_max_seq>("alpha_max_seq", 0.0, 1.0, "level of each chosen value")
            .if_left_out("alpha"),
        value_option<&G::compatible>("compatible",
                                     "the rules of another program: idtxl rearranges every value by itself, "
                                     "tests as IDTxl does, with p_value plain, and standardizes series; see "
                                     "docs/multivariate.md")));
    for (OptionInfo& o : all) o.use = OptionUse::greedy;
    return all;
  }
};

}  // namespace kolmo
