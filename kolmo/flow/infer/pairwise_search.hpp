#pragma once
#include "kolmo/flow/infer/prepare.hpp"
#include "kolmo/flow/infer/target_search.hpp"

namespace kolmo {

/// Estimates the links from all other variables to a target, each for itself. The alternatives of a round are the lags of
/// some sources. A round has so few of them that it is short and an interruption loses little. Surrogates come in parts, as
/// NetworkOptions::rule() says: after a part of all links that are open it waits.
class PairwiseSearch final : public TargetSearch {
 public:
  /// A round of several sources has no more work than this, in estimates times rows; a core does it in some seconds.
  static constexpr double usual_round = 0x1p26;

  /// `network` must outlive it.
  PairwiseSearch(const PreparedNetwork& network, const TargetResult& target, double round = usual_round);

  std::int64_t number() const override;
  bool waits() const override { return taken_ == part_links_.size(); }
  std::optional<Round> next() override;
  void take(std::span<const Estimates> estimates) override;
  std::string record() const override;
  std::int64_t replay(const std::string& record) override;

  /// Begins the next part of surrogates of all links that are open, once it waits. Returns how many estimates that needs; 0 if
  /// no link is open.
  std::int64_t begin_part();

  std::int32_t target() const { return target_.target; }
  /// The links as far as they were taken, and the test of each; sources that lack values in the same rows follow each other.
  const std::vector<LinkResult>& links() const { return links_; }
  const std::vector<SequentialTest>& tests() const { return tests_; }

 private:
  /// The links of the next round, as indices into sources_; their sources lack values in the same rows.
  std::span<const std::size_t> round() const;
  std::int64_t estimates(std::size_t links) const;
  void take(std::size_t link, const Estimates& estimates, std::size_t which);
  std::int32_t absence(std::int32_t source) const;
  void choose_round_size();
  void show_test(std::size_t link);

  const PreparedNetwork& network_;
  TargetResult target_;
  double round_;
  std::vector<std::int32_t> sources_;
  std::vector<std::int64_t> rows_;        // embedded ones of each link
  std::vector<std::int64_t> surrogates_;  // how many different ones each link has
  SurrogateRange part_;
  std::vector<std::size_t> part_links_;  // that get this part
  std::size_t each_ = 1;                 // links of a round
  std::size_t taken_ = 0, last_ = 0;     // links of the part that were taken; and in the round before
  std::vector<LinkResult> links_;
  std::vector<SequentialTest> tests_;
};

/// The work of estimating a link with the first part of its surrogates, in estimates times rows.
double link_work(const Series& series, const NetworkOptions& options);

/// Returns the condition of a link beside the target's past: the given values, and with `conditional_all` those of all other
/// variables at the lags that the source has.
Coordinates condition_of_link(const NetworkOptions& options, std::int32_t source, std::int32_t target);

/// The task of the links from some sources to a target, which lack values in the same rows, or from one if each has a condition of
/// its own; and the link from sources[which].
EstimationTask link_task(const Series& series, const NetworkOptions& options, const TargetResult& target,
                         std::span<const std::int32_t> sources);
LinkResult link_of(const NetworkOptions& options, std::int32_t source, std::int32_t target, std::size_t which,
                   const Estimates& estimates);

}  // namespace kolmo
