#pragma once
#include <functional>
#include <string>
#include <utility>

#include "kolmo/predict/forecast/forecaster.hpp"

namespace kolmo::predict {

/// A learned forecaster whose answers are given: the centre of the i-th block to come.
class Fake final : public Forecaster {
 public:
  using Centre = std::function<double(const Seen&, std::size_t)>;
  Fake(std::string name, Centre centre, double spread = 0, bool unlike = false)
      : name_(std::move(name)), centre_(std::move(centre)), spread_(spread), unlike_(unlike) {}
  std::string_view name() const override { return name_; }
  bool knows_rates() const override { return true; }
  bool learned_gain() const override { return true; }
  bool unlike(const Seen&) const override { return unlike_; }
  Prediction predict(const Seen& seen, const RateBlocks& planned) const override {
    Prediction out;
    for (std::size_t i = 0; i < planned.size(); ++i)
      out.centres.push_back(centre_(seen, i)), out.spread.push_back(spread_);
    return out;
  }

 private:
  std::string name_;
  Centre centre_;
  double spread_;
  bool unlike_;
};

}  // namespace kolmo::predict
