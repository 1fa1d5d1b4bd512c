#pragma once
#include "kolmo/flow/infer/drawn.hpp"
#include "kolmo/flow/infer/prepare.hpp"
#include "kolmo/flow/infer/selection.hpp"
#include "kolmo/flow/infer/target_search.hpp"

namespace kolmo {

/// Chooses the values in the past of a target and of its sources that together tell its next value:
///   own past   the value that tells most given what was chosen joins it, as long as that is significant against the
///              largest over all values left, in surrogates (maximum statistic). If none is, the latest value joins
///   sources    the same over the values of sources, given the own past too
///   pruning    of several values of sources the one that tells least given all others is removed, as long as it is not
///              significant against the smallest in surrogates (minimum statistic)
///   omnibus    all values of sources together are tested given the own past; none is kept if that is not significant
///   each       every value of a source is tested given all others, by step_down
/// GreedyMeasure::mi has no own past, and ::ais only that, chosen like sources. NetworkMethod::bivariate takes the steps
/// from `sources` on for each source by itself. A surrogate rearranges all values that are left together, and a test ends
/// when its outcome is certain. GreedyRules::idtxl rearranges each value by itself, draws all surrogates and tests by_rank,
/// with p = max(c, 1) / S. All estimates of a target use the same rows. Values that never change are not offered. Of
/// equal values that of the variable with the smallest key is taken, then the one with the shortest lag.
/// Sources: Lizier, Rubinov, MPI MIS preprint 25 (2012); Faes, Nollo, Porta, Phys. Rev. E 83, 051112 (2011); Novelli et
/// al., Netw. Neurosci. 3, 827 (2019).
class GreedySearch final : public TargetSearch {
 public:
  /// `network` must outlive it.
  GreedySearch(const PreparedNetwork& network, std::int32_t target);

  std::int64_t number() const override;
  std::optional<Round> next() override;
  void take(std::span<const Estimates> estimates) override;
  std::string record() const override { return record_; }
  std::int64_t replay(const std::string& record) override;

  enum class Step { own_past, sources, pruning, omnibus, each, links, storage, end };
  /// Makes the random stream of a test, as random_stream(target, this): a test has random numbers of its own, but for
  /// pruning and `each`, which share theirs. `source`: the key of the source of a bivariate search; else 0.
  static std::uint64_t numbers_of_test(Step step, std::size_t conditions, std::uint64_t source = 0);

  const TargetSelection& selection() const { return found_; }
  /// A link from each source that was offered. That of a source of which nothing was chosen has the value and the p-value of
  /// its last test.
  const std::vector<LinkResult>& links() const { return links_; }

 private:
  struct Tested {
    double p;
    std::int64_t surrogates;
  };
  struct Latest {  // the last test of a value of a source
    Coordinate value;
    double information;
    Tested test;
    Summary surrogates;
  };

  const NetworkOptions& options() const { return network_.options; }
  bool idtxl() const { return options().greedy.compatible == GreedyRules::idtxl; }
  bool includes() const { return step_ == Step::own_past || step_ == Step::sources; }
  SourceSelection& group() { return found_.sources.back(); }
  const SourceSelection& group() const { return found_.sources.back(); }

  Coordinates condition(std::span<const Coordinate> without = {}) const;
  std::vector<EstimationTask> tasks() const;
  EstimationTask task(std::vector<Coordinates> x, Coordinates z) const;
  std::int64_t surrogates() const;
  double alpha() const;
  bool is_complete() const { return drawn_.exhausted || drawn_.draws > surrogates(); }

  std::int64_t absorb(Drawn part);
  void begin(Step step);
  void begin_group();
  void decide();
  void decide_inclusion();
  void decide_pruning();
  void decide_omnibus();
  void decide_each();
  void decide_links();
  Tested test(double observed, std::span<const double> surrogates, double analytic_p) const;
  /// IDTxl's p-values are at least 1 / S.
  double floored(double p, std::int64_t surrogates) const;
  bool accepts(double p) const;
  void include(const Chosen& chosen);
  void remove(std::size_t which, SelectionTest by, double information, double p);
  void remember(const Latest& latest);
  void test_chosen();
  /// Whether `each` is the omnibus test too.
  bool one_is_all() const;
  void end_group();
  LinkResult link_from(std::int32_t source) const;

  const PreparedNetwork& network_;
  TargetSelection found_;
  std::vector<LinkResult> links_;
  std::vector<std::int64_t> times_;
  std::int64_t min_shift_ = 0;
  std::vector<std::vector<std::int32_t>> groups_;  // sources that are offered together
  Step step_ = Step::own_past;
  Coordinates left_;    // that were not chosen
  Drawn drawn_, each_;  // of the test under way; of `each` as far as pruning drew it
  std::vector<Latest> latest_;
  std::vector<std::pair<Coordinates, Drawn>> joint_;
  std::string record_;
};

}  // namespace kolmo
