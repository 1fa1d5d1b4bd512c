#include "kolmo/predict/forecast/law.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/predict/forecast/lag.hpp"
#include "kolmo/predict/forecast/small_least_squares.hpp"

namespace kolmo::predict {
namespace {

constexpr std::size_t most_points = 128;
/// A rate whose lag varies by less than this share of the peak says nothing of the gain.
constexpr double least_variation = .02;
/// The prior of the gain counts more than its width says by this factor, because residuals of neighbouring blocks are not independent.
constexpr double prior_counts = 3;
constexpr double farthest = 3;    ///< noises that a residual of a late block counts for at most
constexpr double usual_tau = 15;  ///< steps; of a decay that was not seen yet

/// The mean over a block of (S / sum)^-a, from the mean of S and its variance relative to the square of the mean, where S is linear.
double power_mean(double log_ratio, double variance, double a) {
  return std::exp(-a * log_ratio) *
         (1 + a * (a + 1) / 2 * variance * (1 + .15 * (a + 2) * (a + 3) * variance));
}
double sum_variance(double rate, double sum, std::int64_t length) {
  const double n = double(length);
  return rate * rate * (n * n - 1) / 12 / (sum * sum);
}

double median_of(std::vector<double> v) {
  const auto middle = v.begin() + std::ptrdiff_t(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

/// A fit of the linear coefficients at given exponent and tau.
struct Point {
  double exponent = 1, tau = usual_tau, score = INFINITY, noise = 0, gain_variance = 0, information = 0;
  Coefficients b{};
};

class Fit {
 public:
  Fit(const Seen& seen, LawTerms terms, const GainPrior& prior);
  Law run();

 private:
  void join();
  std::vector<double> lagged(double tau) const;
  std::vector<double> joined(const std::vector<double>& blocks) const;
  Point at(double exponent, double tau, const std::vector<double>& lag,
           std::vector<double>* residuals = nullptr) const;
  Point refined(Point best) const;
  Law law_of(const Point& p) const;

  const Seen& seen_;
  const GainPrior& prior_;
  std::size_t up_ = 0;  // the first block at the peak
  double peak_ = 0, sum_ = 1, rough_noise_ = 1e-9;
  LawTerms terms_;
  bool varies_ = false;
  std::vector<std::size_t> known_, ends_;  // the blocks of the fit; of each point, the end among these
  std::vector<double> y_, log_ratio_, variance_, weight_;
};

Fit::Fit(const Seen& seen, LawTerms terms, const GainPrior& prior)
    : seen_(seen), prior_(prior), terms_(terms) {
  const std::size_t n = seen.count;
  for (const double r : seen.rate()) peak_ = std::max(peak_, r);
  if (!(peak_ > 0)) peak_ = 1;
  while (up_ < n && seen.rate()[up_] < .999 * peak_) ++up_;
  sum_ = std::max(seen.sum()[n - 1], 1e-300);
  for (std::size_t i = 0; i < n; ++i)
    if (seen.knows(i)) known_.push_back(i);
  std::size_t early = 0;
  while (early + 4 < known_.size() && seen.sum()[known_[early]] < .2 * sum_) ++early;
  known_.erase(known_.begin(), known_.begin() + std::ptrdiff_t(early));
  join();
  if (terms == LawTerms::lag) {
    const std::vector<double> lag = lagged(usual_tau);
    const auto [low, high] = std::minmax_element(lag.begin() + std::ptrdiff_t(known_.front()), lag.end());
    varies_ = *high - *low > least_variation;
  }
}

void Fit::join() {
  const std::size_t n = known_.size(), points = std::min(n, most_points);
  const auto loss = seen_.loss(), sum = seen_.sum(), rate = seen_.rate();
  for (std::size_t p = 0; p < points; ++p) {
    const std::size_t begin = n * p / points, end = n * (p + 1) / points;
    double y = 0, s = 0, squares = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = known_[k];
      y += loss[i], s += sum[i];
      squares += sum[i] * sum[i] * (1 + sum_variance(rate[i], std::max(sum[i], 1e-300), seen_.blocks.length));
    }
    const double count = double(end - begin), mean = std::max(s / count, 1e-300);
    ends_.push_back(end);
    y_.push_back(y / count);
    log_ratio_.push_back(std::log(mean / sum_));
    variance_.push_back(std::max(0., squares / count / (mean * mean) - 1));
    weight_.push_back(std::sqrt(count));
  }
  std::vector<double> bends;
  for (std::size_t p = 1; p + 1 < points; ++p)
    bends.push_back(std::fabs(y_[p - 1] - 2 * y_[p] + y_[p + 1]) / y_[p] * weight_[p] / std::sqrt(6.));
  if (!bends.empty()) rough_noise_ = std::max(1e-9, 1.4826 * median_of(bends));
}

/// The lag of each block, relative to the peak.
std::vector<double> Fit::lagged(double tau) const {
  Lag lag(tau, seen_.blocks.length);
  lag.begin(peak_);
  std::vector<double> out(seen_.count);
  const auto rate = seen_.rate(), slope = seen_.slope();
  for (std::size_t i = 0; i < seen_.count; ++i)
    out[i] = (i < up_ ? lag.pass(peak_, 0) : lag.pass(rate[i], slope[i])) / peak_;
  return out;
}

std::vector<double> Fit::joined(const std::vector<double>& blocks) const {
  std::vector<double> out;
  std::size_t k = 0;
  for (const std::size_t end : ends_) {
    double sum = 0;
    const std::size_t begin = k;
    for (; k < end; ++k) sum += blocks[known_[k]];
    out.push_back(sum / double(end - begin));
  }
  return out;
}

Point Fit::at(double exponent, double tau, const std::vector<double>& lag,
              std::vector<double>* residuals) const {
  const std::size_t n = y_.size();
  std::vector<double> power(n), r(n), sizes(n);
  for (std::size_t i = 0; i < n; ++i) power[i] = power_mean(log_ratio_[i], variance_[i], exponent);
  Point p{exponent, tau};
  double huber = INFINITY;  // the residual beyond which weights fall
  const double last = y_.back();
  for (int pass = 0; pass < 2; ++pass) {
    NormalEquations equations;
    for (std::size_t i = 0; i < n; ++i) {
      const double size = pass ? std::fabs(r[i]) : 0;
      const double w = weight_[i] / y_[i] * (size > huber ? std::sqrt(huber / size) : 1);
      equations.add({w, w * power[i], varies_ ? w * lag[i] : 0}, w * y_[i]);
    }
    p.information = 0;
    if (varies_) {
      const double noise = pass ? std::max(p.noise, 1e-12) : rough_noise_;
      p.information = equations.own(2);  // of the gain, once floor and amplitude are fitted
      const double w = prior_counts * noise / (prior_.deviation() * last);
      equations.add({0, 0, w}, w * prior_.median * last);
      p.information /= p.information + w * w;
    }
    p.b = equations.non_negative(varies_ ? 3 : 2);
    if (varies_) p.gain_variance = equations.variance(2);
    for (std::size_t i = 0; i < n; ++i) {
      r[i] = (p.b[0] + p.b[1] * power[i] + (varies_ ? p.b[2] * lag[i] : 0) - y_[i]) / y_[i] * weight_[i];
      sizes[i] = std::fabs(r[i]);
    }
    p.noise = 1.4826 * median_of(sizes) + 1e-13;
    huber = 2 * p.noise;
  }
  p.score = 0;
  for (std::size_t i = 0; i < n; ++i) p.score += std::min(r[i] * r[i], 2 * huber * std::fabs(r[i]));
  p.gain_variance *= p.noise * p.noise;
  if (residuals) *residuals = std::move(r);
  return p;
}

/// Gauss-Newton steps in exponent and log tau, of the residuals that are left when the coefficients are fitted.
Point Fit::refined(Point best) const {
  constexpr double h = 1e-5;
  double damping = 1e-4;
  for (int step = 0; step < 6; ++step) {
    std::vector<double> here, there;
    at(best.exponent, best.tau, varies_ ? joined(lagged(best.tau)) : y_, &here);
    const std::vector<double> lag = varies_ ? joined(lagged(best.tau)) : y_;
    std::vector<double> by_exponent(here.size()), by_tau(here.size());
    at(best.exponent + h, best.tau, lag, &there);
    for (std::size_t i = 0; i < here.size(); ++i) by_exponent[i] = (there[i] - here[i]) / h;
    if (varies_) {
      at(best.exponent, best.tau * std::exp(h), joined(lagged(best.tau * std::exp(h))), &there);
      for (std::size_t i = 0; i < here.size(); ++i) by_tau[i] = (there[i] - here[i]) / h;
    }
    double aa = 0, at_ = 0, tt = 0, ar = 0, tr = 0;
    for (std::size_t i = 0; i < here.size(); ++i) {
      aa += by_exponent[i] * by_exponent[i], ar += by_exponent[i] * here[i];
      if (varies_) at_ += by_exponent[i] * by_tau[i], tt += by_tau[i] * by_tau[i], tr += by_tau[i] * here[i];
    }
    aa *= 1 + damping, tt *= 1 + damping;
    const double determinant = varies_ ? aa * tt - at_ * at_ : aa;
    if (!(determinant > 0)) break;
    const double da = varies_ ? (ar * tt - tr * at_) / determinant : ar / aa;
    const double dt = varies_ ? (aa * tr - at_ * ar) / determinant : 0;
    const double exponent = std::clamp(best.exponent - da, .02, 3.);
    const double tau = best.tau * std::exp(-std::clamp(dt, -1., 1.));
    const Point next = at(exponent, tau, varies_ ? joined(lagged(tau)) : y_);
    if (!(next.score < best.score)) {
      if (damping > 1) break;
      damping = std::max(damping, 1e-3) * 100;
      continue;
    }
    const bool done = next.score > best.score * (1 - 1e-3);
    best = next, damping /= 10;
    if (done) break;
  }
  return best;
}

Law Fit::law_of(const Point& p) const {
  Law law;
  law.floor = p.b[0], law.amplitude = p.b[1], law.exponent = p.exponent;
  law.sum = sum_, law.peak = peak_, law.noise = p.noise, law.tau = p.tau;
  const std::vector<double> lag = lagged(p.tau);
  if (varies_)
    law.gain = p.b[2], law.gain_deviation = std::sqrt(p.gain_variance), law.gain_known = p.information;
  else if (terms_ == LawTerms::lag)
    law.gain_of_loss = true, law.gain = prior_.median, law.gain_deviation = prior_.deviation();
  Lag state(p.tau, seen_.blocks.length);
  state.begin(peak_);
  const auto rate = seen_.rate(), slope = seen_.slope(), sum = seen_.sum(), loss = seen_.loss();
  for (std::size_t i = 0; i < seen_.count; ++i)
    i < up_ ? state.pass(peak_, 0) : state.pass(rate[i], slope[i]);
  law.lag = state.now() / peak_;
  const std::size_t recent = std::min<std::size_t>(4, known_.size()), first = known_[known_.size() - recent];
  law.lag_effects.resize(seen_.count);
  double last = 0;  // the fitted loss of the last block
  for (std::size_t i = varies_ ? 0 : first; i < seen_.count; ++i) {
    const double s = std::max(sum[i], 1e-300);
    const double curve =
        p.b[0] +
        p.b[1] * power_mean(std::log(s / sum_), sum_variance(rate[i], s, seen_.blocks.length), p.exponent);
    const double gain = varies_ ? p.b[2] : 0;
    if (gain > 0) law.lag_effects[i] = std::log((curve + gain * lag[i]) / (curve + gain * law.lag));
    last = curve + gain * lag[i];
    if (i >= first &&
        seen_.knows(i))  // a block far from the law is a spike, which says nothing of what comes
      law.bias += std::clamp(last / loss[i] - 1, -farthest * p.noise, farthest * p.noise) / double(recent);
  }
  law.bias *= .7 * last;
  return law;
}

Law Fit::run() {
  std::vector<double> taus{usual_tau};
  if (varies_) {
    taus.clear();
    const double longest = .5 * double(seen_.blocks.length) * double(seen_.count);
    for (double tau = 5; tau <= std::max(5., longest); tau *= 4) taus.push_back(tau);
  }
  Point best;
  for (const double tau : taus) {
    const std::vector<double> lag = varies_ ? joined(lagged(tau)) : y_;
    for (int i = 0; i < 14; ++i) {
      const Point p = at(.05 + i * (1.45 / 13), tau, lag);
      if (p.score < best.score) best = p;
    }
  }
  return law_of(refined(best));
}

}  // namespace

Law fit_law(const Seen& seen, LawTerms terms, const GainPrior& prior) {
  return Fit(seen, terms, prior).run();
}

std::vector<double> Law::lags(const RateBlocks& planned, std::int64_t length) const {
  Lag state(tau, length);
  state.begin(lag * peak);
  std::vector<double> out;
  for (std::size_t i = 0; i < planned.size(); ++i)
    out.push_back(state.pass(planned.rate[i], planned.slope[i]) / peak);
  return out;
}

std::vector<double> Law::Future::logs(double last) const {
  std::vector<double> out;
  for (const double l : loss) out.push_back(std::log(std::max(l, .02 * last)));
  return out;
}

Law::Future Law::after(const RateBlocks& planned, std::int64_t length) const {
  const std::vector<double> left = lags(planned, length);
  Future out;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const double s = std::max(planned.sum[i], 1e-300), q = left[i];
    double loss =
        floor +
        amplitude * power_mean(std::log(s / sum), sum_variance(planned.rate[i], s, length), exponent) - bias;
    double deviation = gain_deviation * std::fabs(q - lag);
    const double change = gain_of_loss ? -gain * loss * (lag - q) : gain * (q - lag);
    if (gain_of_loss) deviation *= loss;
    if (!gain_of_loss) loss += gain * lag;
    out.lag_effect.push_back(std::log(std::max(1 + change / loss, .02)));
    loss += change;
    out.loss.push_back(loss);
    out.gain_deviation.push_back(deviation);
  }
  return out;
}

}  // namespace kolmo::predict
