#include "kolmo/flow/estimate/discrete.hpp"

#include <fmt/format.h>

#include <map>
#include <numeric>

#include "kolmo/base/entropy.hpp"
#include "kolmo/base/log.hpp"
#include "kolmo/flow/estimate/row_estimates.hpp"

namespace kolmo {
namespace {

using States = std::vector<std::uint32_t>;

template <class T>
std::vector<T> different(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Replaces each value by its index among the different values in rising order, and sets `count` to their
/// number.
template <class T>
States numbered(const std::vector<T>& values, std::size_t& count) {
  const std::vector<T> all = different(values);
  count = all.size();
  States states;
  states.reserve(values.size());
  for (const T v : values)
    states.push_back(std::uint32_t(std::lower_bound(all.begin(), all.end(), v) - all.begin()));
  return states;
}

/// Numbers the combinations of two columns of states, from 0 to below `count`.
States combined(const States& a, const States& b, std::size_t& count) {
  std::vector<std::uint64_t> both(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) both[i] = std::uint64_t(a[i]) << 32 | b[i];
  return numbered(both, count);
}

/// The joint state of all coordinates at each time, from 0 to below `count`. Without coordinates all times
/// have state 0.
States states_of(const Series& series, const Coordinates& coordinates, std::span<const std::int64_t> times,
                 std::size_t& count) {
  States joint(times.size(), 0);
  count = 1;
  std::vector<double> values(times.size());
  for (std::size_t c = 0; c < coordinates.size(); ++c) {
    const auto& from = series.values[std::size_t(coordinates[c].variable)];
    for (std::size_t i = 0; i < times.size(); ++i)
      values[i] = from[std::size_t(times[i] - coordinates[c].lag)];
    States next = numbered(values, count);
    joint = c == 0 ? std::move(next) : combined(joint, next, count);
  }
  return joint;
}

/// A table of n ln n for n up to N, times a power of two and rounded to integers. The power is so small that
/// no sum of them overflows.
class LogTable {
 public:
  explicit LogTable(std::size_t rows) {
    const double most = x_log_x(double(rows)) + double(rows) + 1;
    scale_ = std::exp2(61 - std::ceil(std::log2(most)));
    terms_.reserve(rows + 1);
    for (std::size_t n = 0; n <= rows; ++n) terms_.push_back(std::llround(x_log_x(double(n)) * scale_));
  }
  std::int64_t operator[](std::size_t n) const { return terms_[n]; }
  double value(std::int64_t sum) const { return double(sum) / scale_; }

 private:
  double scale_;
  std::vector<std::int64_t> terms_;
};

/// Counts how often each state of x occurs in a group of rows.
struct Counts {
  std::vector<std::uint32_t> of;
  States seen;

  void add(std::uint32_t state) {
    if (of[state]++ == 0) seen.push_back(state);
  }
  /// Returns the sum of n ln n over the states, adds the number of states to `states`, and sets all counts to
  /// 0.
  std::int64_t take(const LogTable& log, std::int64_t& states) {
    std::int64_t sum = 0;
    for (const std::uint32_t s : seen) sum += log[of[s]], of[s] = 0;
    states += std::int64_t(seen.size());
    seen.clear();
    return sum;
  }
};

class DiscreteModel {
 public:
  struct Scratch {
    Counts within_z, within_yz;
  };

  DiscreteModel(const Series& series, const EstimationTask& task, const EstimatorOptions& o)
      : series_(series),
        task_(task),
        miller_madow_(o.bias == Bias::miller_madow),
        log_(task.times.size()),
        order_(task.times.size()) {
    std::size_t ny, nz;
    const States y = states_of(series, task.y, task.times, ny);
    z_ = states_of(series, task.z, task.times, nz);
    yz_ = combined(z_, y, ny);
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return yz_[a] < yz_[b]; });
    Counts z{States(nz, 0), {}}, yz{States(ny, 0), {}};
    for (const std::uint32_t i : order_) z.add(z_[i]), yz.add(yz_[i]);
    fixed_sum_ = z.take(log_, z_states_), fixed_sum_ -= yz.take(log_, yz_states_);
    x_.resize(task.x.size()), x_states_.resize(task.x.size());
  }
  void prepare(std::size_t a) { x_[a] = states_of(series_, task_.x[a], task_.times, x_states_[a]); }
  double value(std::size_t a, const SurrogateMap& map, Scratch& s) const {
    for (Counts* c : {&s.within_z, &s.within_yz}) c->of.resize(std::max(c->of.size(), x_states_[a]), 0);
    std::int64_t sum = fixed_sum_, xz = 0, xyz = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {  // rows in order of z, then of y
      const std::uint32_t row = order_[i], state = x_[a][map(row)];
      s.within_z.add(state), s.within_yz.add(state);
      const bool last = i + 1 == order_.size();
      if (last || yz_[order_[i + 1]] != yz_[row]) sum += s.within_yz.take(log_, xyz);
      if (last || z_[order_[i + 1]] != z_[row]) sum -= s.within_z.take(log_, xz);
    }
    const auto n = double(order_.size());
    const double plug_in = not_below_zero(log_.value(sum) / n);
    return miller_madow_ ? plug_in + double(xz + yz_states_ - xyz - z_states_) / (2 * n) : plug_in;
  }

 private:
  const Series& series_;
  const EstimationTask& task_;
  bool miller_madow_;
  LogTable log_;
  States order_, z_, yz_;
  std::int64_t fixed_sum_ = 0, z_states_ = 0, yz_states_ = 0;
  std::vector<States> x_;
  std::vector<std::size_t> x_states_;
};

void check_states_of(const Series& series, std::span<const EstimationTask> tasks,
                     const EstimatorOptions& options) {
  std::vector<std::int32_t> variables;
  for (const EstimationTask& t : tasks) {
    for (const Coordinates& x : t.x)
      for (const Coordinate& c : x) variables.push_back(c.variable);
    for (const auto* part : {&t.y, &t.z})
      for (const Coordinate& c : *part) variables.push_back(c.variable);
  }
  check_states(series, different(std::move(variables)), options);
}

/// Maps each number of occurrences to how many states occur so often.
std::map<std::int64_t, double> frequencies(const States& states, std::size_t count) {
  std::vector<std::int64_t> of(count, 0);
  for (const std::uint32_t s : states) ++of[s];
  std::map<std::int64_t, double> found;
  for (const std::int64_t n : of) ++found[n];
  return found;
}

/// Two states that occur a and b times in N rows, in random order, meet in m of them. Holds the means of m ln(N m / (a b)) and
/// of [m > 0], which are summed from the most probable m outwards until probabilities are below rounding.
struct Meeting {
  double information = 0, seen = 0;

  Meeting(std::int64_t a, std::int64_t b, std::int64_t rows) {
    const std::int64_t least = std::max<std::int64_t>(0, a + b - rows), most = std::min(a, b);
    const auto mode =
        std::clamp(std::int64_t((double(a) + 1) * (double(b) + 1) / (double(rows) + 2)), least, most);
    double all = 0;
    const auto add = [&](std::int64_t m, double weight) {
      all += weight;
      if (m == 0) return;
      seen += weight;
      information += weight * double(m) * log_exact(double(rows) * double(m) / (double(a) * double(b)));
    };
    constexpr double rounding = 1e-18;
    double weight = 1;
    for (std::int64_t m = mode; m <= most && weight > rounding; ++m) {
      add(m, weight);
      weight *= double(a - m) * double(b - m) / (double(m + 1) * double(rows - a - b + m + 1));
    }
    weight = 1;
    for (std::int64_t m = mode; m > least && weight > rounding; --m) {
      weight *= double(m) * double(rows - a - b + m) / (double(a - m + 1) * double(b - m + 1));
      add(m - 1, weight);
    }
    information /= all, seen /= all;
  }
};

/// How often the state of each row occurs.
std::vector<double> occurrences(const States& states, std::size_t count) {
  std::vector<double> of(count, 0), at_row;
  for (const std::uint32_t s : states) ++of[s];
  for (const std::uint32_t s : states) at_row.push_back(of[s]);
  return at_row;
}

}  // namespace

void check_states(const Series& series, std::span<const std::int32_t> variables, const EstimatorOptions& o) {
  const bool ordinal = o.estimator == Estimator::ordinal;
  if (!ordinal && o.estimator != Estimator::discrete) return;
  for (const std::int32_t variable : variables) {
    std::vector<double> values;
    std::copy_if(series.values[std::size_t(variable)].begin(), series.values[std::size_t(variable)].end(),
                 std::back_inserter(values), [](double x) { return !std::isnan(x); });
    const std::size_t rows = values.size(), states = different(std::move(values)).size();
    if (states <= std::max<std::size_t>(10, rows / 5)) continue;
    fail<InvalidArgument>(series.file + ": column '" + series.names[std::size_t(variable)] + "' has " +
                          std::to_string(states) + " different " + (ordinal ? "patterns" : "values") +
                          " in " + std::to_string(rows) + " rows; --estimator " +
                          (ordinal ? "ordinal takes few: lower --order"
                                   : "discrete takes few; ksg or ordinal take continuous ones"));
  }
}

std::vector<Estimates> discrete_estimates(const Series& series, std::span<const EstimationTask> tasks,
                                          const EstimatorOptions& options, SurrogateRange draws,
                                          const Stream& stream, Progress* progress) {
  check_states_of(series, tasks, options);
  return estimate_rows<DiscreteModel>(series, tasks, options, draws, stream, progress);
}

double discrete_bias(const Series& series, const EstimationTask& task, const EstimatorOptions& options) {
  require(task.x.size() == 1 && task.z.empty(), "the bias is of a task with one alternative and without z");
  std::size_t nx, ny;
  const States x = states_of(series, task.x[0], task.times, nx),
               y = states_of(series, task.y, task.times, ny);
  const auto rows = std::int64_t(x.size());
  const auto of_x = frequencies(x, nx), of_y = frequencies(y, ny);
  double information = 0, seen = 0;
  for (const auto& [a, as] : of_x)
    for (const auto& [b, bs] : of_y) {
      const Meeting meeting(a, b, rows);
      information += as * bs * meeting.information, seen += as * bs * meeting.seen;
    }
  if (options.bias == Bias::miller_madow) information += (double(nx) + double(ny) - seen - 1) / 2;
  return information / double(rows);
}

std::vector<double> discrete_local_values(const Series& series, const EstimationTask& task,
                                          const EstimatorOptions& options) {
  check_states_of(series, {&task, 1}, options);
  std::size_t nx, ny, nz, nxz, nyz, nxyz;
  const States x = states_of(series, task.x.at(0), task.times, nx),
               y = states_of(series, task.y, task.times, ny), z = states_of(series, task.z, task.times, nz),
               xz = combined(x, z, nxz), yz = combined(y, z, nyz), xyz = combined(xz, y, nxyz);
  const auto in_z = occurrences(z, nz), in_xz = occurrences(xz, nxz), in_yz = occurrences(yz, nyz),
             in_xyz = occurrences(xyz, nxyz);
  std::vector<double> values;
  for (std::size_t t = 0; t < z.size(); ++t)
    values.push_back(log_exact(in_xyz[t] * in_z[t] / (in_xz[t] * in_yz[t])));
  return values;
}

std::string undersampled_states(const Series& series, const EstimationTask& task, std::size_t alternative,
                                const EstimatorOptions& o) {
  if (o.estimator != Estimator::discrete && o.estimator != Estimator::ordinal) return "";
  std::size_t nx, ny, nz, nxz, nxyz;
  const States x = states_of(series, task.x.at(alternative), task.times, nx),
               y = states_of(series, task.y, task.times, ny), z = states_of(series, task.z, task.times, nz);
  const States all = combined(combined(x, z, nxz), y, nxyz);
  std::vector<std::size_t> met(nxyz);
  for (const std::uint32_t state : all) ++met[state];
  const auto once = std::size_t(std::count(met.begin(), met.end(), std::size_t(1)));
  const double joint = double(nx) * double(ny) * double(nz);
  if (double(all.size()) >= joint && 2 * once <= nxyz) return "";
  return fmt::format("{} rows for {:.0f} joint states, of which {} occur, {} of them once", all.size(), joint,
                     nxyz, once);
}

}  // namespace kolmo
