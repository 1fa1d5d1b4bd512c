#include "kolmo/monitor/history.hpp"

#include <cmath>

#include "kolmo/monitor/exposition.hpp"

namespace kolmo::monitor {
namespace {
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
}

void History::add(double now, const std::vector<metrics::Family>& families) {
  times_.push_back(now);
  while (now - times_.front() > span) times_.pop_front(), ++first_;
  const std::size_t collection = first_ + times_.size() - 1;
  for (const metrics::Family& f : families)
    for (const metrics::Reading& s : f.readings) {
      Track& t = tracks_.try_emplace(series_name(f.name, s.labels), Track{f.kind, {}, {}, {}}).first->second;
      if (f.kind != metrics::Kind::histogram) {
        t.values.emplace_back(collection, s.value);
        continue;
      }
      Growth g{collection, s.histogram.sum - t.last.sum, {}};
      for (std::size_t b = 0; b < t.last.counts.size(); ++b)
        if (const std::uint64_t more = s.histogram.counts[b] - t.last.counts[b])
          g.counts.emplace_back(std::int16_t(b), more);
      t.last = s.histogram;
      // The first collection has no earlier one: its growth is that since the process started.
      const bool since_before = collection > 0;
      if (since_before && !g.counts.empty()) t.growths.push_back(std::move(g));
    }
  for (auto& [name, t] : tracks_) {
    while (!t.growths.empty() && t.growths.front().collection < first_) t.growths.pop_front();
    while (!t.values.empty() && t.values.front().first < first_) t.values.pop_front();
  }
}

const History::Track* History::find(const std::string& series) const {
  const auto found = tracks_.find(series);
  return found == tracks_.end() ? nullptr : &found->second;
}

History::Window History::window(const std::string& series, double seconds) const {
  Window w;
  const Track* t = find(series);
  if (!t || times_.empty()) return w;
  const double from = times_.back() - seconds;
  w.seconds = std::min(seconds, times_.back() - times_.front());
  for (const Growth& g : t->growths) {
    if (time_of(g.collection) <= from) continue;
    for (const auto& [bucket, count] : g.counts) w.data.counts[std::size_t(bucket)] += count;
    w.data.sum += g.sum;
  }
  return w;
}

double History::rate(const std::string& series, double seconds) const {
  const Track* t = find(series);
  if (!t || t->values.size() < 2) return unknown;
  const auto& [last, value] = t->values.back();
  for (const auto& [collection, before] : t->values)
    if (collection != last && time_of(collection) >= time_of(last) - seconds)
      return (value - before) / (time_of(last) - time_of(collection));
  return unknown;
}

std::vector<double> History::values(const std::string& series) const {
  std::vector<double> all(times_.size(), unknown);
  const Track* t = find(series);
  if (!t) return all;
  const std::pair<std::size_t, double>* before = nullptr;
  for (const auto& point : t->values) {
    const std::size_t at = point.first - first_;
    if (t->kind == metrics::Kind::gauge)
      all[at] = point.second;
    else if (before)
      all[at] = (point.second - before->second) / (times_[at] - time_of(before->first));
    before = &point;
  }
  return all;
}

std::vector<double> History::times() const { return {times_.begin(), times_.end()}; }

}  // namespace kolmo::monitor
