#pragma once
// Operators that do the same for each of a number of items, each with a team of threads: filters, fits,
// trees. A team is one thread on the CPU, and a warp or a block in a kernel. An operator provides a functor over
// its element type, constructed from its arguments:
//   template <class T> struct KalmanFilter {
//     explicit KalmanFilter(const KalmanArgs&);
//     std::int64_t items() const;
//     std::int64_t scratch() const;                       // doubles that a team needs
//     std::int64_t width() const;                         // how many threads an item can use at once
//     template <class Team>
//     KOLMO_HD void operator()(std::int64_t item, const Team& team, double* scratch) const;
//   };
// and Items<KalmanArgs, KalmanFilter, &KalmanArgs::x, float, double>. A team has the functions
//   team.each(n, f)      calls f(i) for i in [0, n), spread over all threads
//   team.sync()          what any thread wrote to memory before it is then seen by all
//   team.sum(value)      gives all threads the sum of their values; product(value) likewise
//   team.first()         whether this is the first thread
// All threads call these in the same order. A functor's member `Status status` is set by the skeletons.
#include "kolmo/skeleton/each_item.hpp"

namespace kolmo {

/// A team of one thread.
struct LoneThread {
  template <class F>
  void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }
  void sync() const {}
  double sum(double value) const { return value; }
  double product(double value) const { return value; }
  bool first() const { return true; }
};

/// Gives all threads of a team the sum of f(i) for i in [0, n).
template <class Team, class F>
KOLMO_HD double team_sum(const Team& team, std::int64_t n, const F& f) {
  double sum = 0;
  team.each(n, [&](std::int64_t i) { sum += f(i); });
  return team.sum(sum);
}

}  // namespace kolmo
