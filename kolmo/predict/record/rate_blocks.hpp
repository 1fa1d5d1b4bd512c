#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kolmo::predict {

/// The learning rate in blocks of steps, and the sum of rates S_t = rate_1 + ... + rate_t, in which laws of losses are written.
struct RateBlocks {
  std::vector<double> rate;   ///< mean over the steps of the block
  std::vector<double> slope;  ///< of the rate within the block, per step, by least squares
  std::vector<double> sum;    ///< mean over the steps of the block of S_t

  std::size_t size() const { return rate.size(); }
};

/// Gathers the rates of steps into blocks.
class RateBlocker {
 public:
  /// `sum`: S before the first step. `length`: steps in a block, from 1 on.
  explicit RateBlocker(std::int64_t length, double sum = 0) : length_(length), sum_(sum) {}

  /// Takes the rate that `steps` steps in a row have. A block that becomes full is appended to `to`.
  void add(double rate, std::int64_t steps, RateBlocks& to);
  /// Takes steps that belong to no block, and count in S only.
  void skip(double rate, std::int64_t steps) { sum_ += rate * double(steps); }
  /// S after the steps that were added.
  double sum() const { return sum_; }
  /// The steps since the last full block.
  std::int64_t open() const { return open_; }

 private:
  std::int64_t length_, open_ = 0;
  double sum_;
  double rates_ = 0, moments_ = 0, sums_ = 0;  // over the steps of the open block: rate, place times rate, S
};

}  // namespace kolmo::predict
