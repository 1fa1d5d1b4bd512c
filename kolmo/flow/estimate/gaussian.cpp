#include "kolmo/flow/estimate/gaussian.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "kolmo/base/log.hpp"
#include "kolmo/flow/data/lane_sums.hpp"
#include "kolmo/flow/estimate/analytic_test.hpp"
#include "kolmo/flow/estimate/row_estimates.hpp"

namespace kolmo {
namespace {

// A column is dependent on others if what regression leaves of its length is below this; rounding leaves some
// 1e-15.
constexpr double dependent = 1e-10;
// The least share of a variance that is taken as not explained, so that the logarithm is finite.
constexpr double least_rest = 0x1p-52;

double dot(const double* a, const double* b, std::size_t n) {
  return lane_sums<1>(n, [=]<class V>(std::size_t i, std::array<V, 1>& product) {
    V v;
    read(a + i, v), read(b + i, product[0]);
    product[0] *= v;
  })[0];
}

double mean_of(const double* a, std::size_t n) {
  return lane_sums<1>(n, [=]<class V>(std::size_t i, std::array<V, 1>& v) { read(a + i, v[0]); })[0] /
         double(n);
}

/// v(t) becomes change(v(t), t).
template <class F>
void change_each(double* v, std::size_t n, const F& change) {
  in_vectors(std::int64_t(n), [=](std::int64_t t) { v[t] = change(v[t], t); });
}

/// Orthonormal columns of n values, one after another.
struct Basis {
  std::size_t n = 0, rank = 0;
  std::vector<double> columns;

  const double* operator[](std::size_t i) const { return columns.data() + i * n; }
};

void subtract_projection(double* v, const Basis& basis) {
  for (std::size_t i = 0; i < basis.rank; ++i) {
    const double share = dot(v, basis[i], basis.n);
    change_each(v, basis.n, [share, axis = basis[i]](double x, auto t) { return x - share * axis[t]; });
  }
}

/// Appends to `to` the part of a column that is orthogonal to `fixed` and `to`, unless it vanishes. Where
/// little is left of the column, its rounding is not small any more, and the column is projected a second
/// time (Giraud et al., Numerische Mathematik 101, 87, 2005).
void append(Basis& to, const Basis* fixed, const double* column) {
  constexpr double much = 0.01;
  const std::size_t n = to.n, at = to.rank * n;
  if (to.columns.size() < at + n) to.columns.resize(at + n);
  double* v = to.columns.data() + at;
  std::copy(column, column + n, v);
  const double whole = dot(v, v, n);
  if (!(whole > 0)) return;
  double rest = whole;
  for (int pass = 0; pass < 2; ++pass) {
    if (fixed) subtract_projection(v, *fixed);
    subtract_projection(v, to);
    rest = dot(v, v, n);
    if (rest > much * whole) break;
  }
  if (!(rest > dependent * dependent * whole)) return;
  change_each(v, n, [scale = 1 / std::sqrt(rest)](double x, auto) { return x * scale; });
  ++to.rank;
}

/// Columns of the values at mean 0 and deviation 1; zeros for a constant. They are in the order of the variables' keys and of
/// lags, so that no bit of an estimate depends on the order in which they are named.
std::vector<double> centred(const Series& series, Coordinates coordinates,
                            std::span<const std::int64_t> times) {
  std::stable_sort(coordinates.begin(), coordinates.end(), [&](const Coordinate& a, const Coordinate& b) {
    const auto key = [&](const Coordinate& c) { return series.keys[std::size_t(c.variable)]; };
    return std::pair(key(a), a.lag) < std::pair(key(b), b.lag);
  });
  const std::size_t n = times.size();
  std::vector<double> columns(coordinates.size() * n);
  double* to = columns.data();
  for (const Coordinate& c : coordinates) {
    const double* from = series.values[std::size_t(c.variable)].data();
    for (std::size_t i = 0; i < n; ++i) to[i] = from[times[i] - c.lag];
    const Scaling z = scaling_of({to, n});
    change_each(to, n, [z](double x, auto) { return (x - z.mean) / z.deviation; });
    const double rest = mean_of(to, n);  // what a mean far from 0 leaves by its rounding
    change_each(to, n, [rest](double x, auto) { return x - rest; });
    const bool constant = largest_magnitude({to, n}) * z.deviation <= 1e-14 * std::abs(z.mean);
    if (constant) std::fill(to, to + n, 0);  // but for that rounding
    to += n;
  }
  return columns;
}

/// -1/2 ln |1 - C C'|, where C is the matrix of correlations between two orthonormal bases and C' its
/// transpose.
double information(const Basis& y, const Basis& x) {
  const std::size_t n = y.rank;
  std::vector<double> rest(n * n, 0), c(x.rank);
  std::vector<std::vector<double>> rows(n, c);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < x.rank; ++k) rows[i][k] = dot(y[i], x[k], y.n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)  // Cholesky's factorisation, row by row
    for (std::size_t j = 0; j <= i; ++j) {
      double v = i == j;
      for (std::size_t k = 0; k < x.rank; ++k) v -= rows[i][k] * rows[j][k];
      for (std::size_t k = 0; k < j; ++k) v -= rest[i * n + k] * rest[j * n + k];
      if (i == j) v = std::max(v, least_rest), sum -= log_exact(v) / 2;
      rest[i * n + j] = i == j ? std::sqrt(v) : v / rest[j * n + j];
    }
  return std::max(sum, 0.0);
}

class GaussianModel {
 public:
  using Scratch = std::vector<double>;

  GaussianModel(const Series& series, const EstimationTask& task, const EstimatorOptions& o)
      : series_(series), task_(task), keep_x_(o.surrogates > 0), n_(task.times.size()), z_{n_}, y_{n_} {
    const std::vector<double> z = centred(series, task.z, task.times),
                              y = centred(series, task.y, task.times);
    for (std::size_t i = 0; i < task.z.size(); ++i) append(z_, nullptr, z.data() + i * n_);
    for (std::size_t i = 0; i < task.y.size(); ++i) append(y_, &z_, y.data() + i * n_);
    x_.resize(task.x.size()), observed_.resize(task.x.size());
  }
  void prepare(std::size_t a) {
    std::vector<double> x = centred(series_, task_.x[a], task_.times);
    observed_[a] = fit(x);
    if (keep_x_) x_[a] = std::move(x);
  }
  double value(std::size_t a, const SurrogateMap& map, Scratch& x) const {
    if (map.identity()) return observed_[a].value;
    x.resize(x_[a].size());
    for (std::uint32_t t = 0; t < n_; ++t)
      for (std::size_t from = map(t), to = t; to < x.size(); from += n_, to += n_) x[to] = x_[a][from];
    return fit(x).value;
  }
  double p_value(std::size_t a) const {
    return analytic_p_value(observed_[a].value, {n_, observed_[a].rank, y_.rank, z_.rank});
  }

  /// The local values. With an orthonormal basis Q of centred columns, the quadratic form of their Gaussian
  /// density at row t is N sum_i Q_i(t)^2. In the log ratio of densities the forms of z and of y given z
  /// cancel; those of x given z (`free`) and of x given y and z (`given`) are left.
  std::vector<double> local() const {
    const std::vector<double> x = centred(series_, task_.x[0], task_.times);
    Basis yz = z_, free{n_}, given{n_};
    yz.columns.resize(z_.rank * n_);
    yz.columns.insert(yz.columns.end(), y_.columns.begin(),
                      y_.columns.begin() + std::ptrdiff_t(y_.rank * n_));
    yz.rank += y_.rank;
    for (std::size_t at = 0; at < x.size(); at += n_)
      append(free, &z_, x.data() + at), append(given, &yz, x.data() + at);
    if (free.rank != given.rank)
      fail<InvalidArgument>(task_.name +
                            ": there are no local values, as one of the columns determines another");
    std::vector<double> values(n_, information(y_, free));
    for (std::size_t i = 0; i < free.rank; ++i)
      for (std::size_t t = 0; t < n_; ++t)
        values[t] += double(n_) / 2 * (free[i][t] * free[i][t] - given[i][t] * given[i][t]);
    return values;
  }

 private:
  struct Fit {
    double value = 0;
    std::size_t rank = 0;
  };
  Fit fit(const std::vector<double>& x) const {
    Basis basis{n_};
    for (std::size_t at = 0; at < x.size(); at += n_) append(basis, &z_, x.data() + at);
    return {information(y_, basis), basis.rank};
  }

  const Series& series_;
  const EstimationTask& task_;
  bool keep_x_;
  std::size_t n_;
  Basis z_, y_;
  std::vector<std::vector<double>> x_;
  std::vector<Fit> observed_;
};

}  // namespace

std::vector<Estimates> gaussian_estimates(const Series& series, std::span<const EstimationTask> tasks,
                                          const EstimatorOptions& options, SurrogateRange draws,
                                          const Stream& stream, Progress* progress) {
  return estimate_rows<GaussianModel>(series, tasks, options, draws, stream, progress);
}

std::vector<double> gaussian_local_values(const Series& series, const EstimationTask& task) {
  return GaussianModel(series, task, {}).local();
}

}  // namespace kolmo
