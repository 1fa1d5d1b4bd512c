#include "kolmo/predict/model/train.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kolmo/base/error.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/predict/model/device_members.hpp"
#include "kolmo/predict/model/inputs.hpp"
#include "kolmo/predict/model/tape.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"

namespace kolmo::predict {
namespace {
constexpr int batch = 64;

/// Random numbers in order.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) : philox_(seed), stream_(stream) {}
  double uniform() {
    const Philox::Words words = philox_(next_++, stream_);
    return uniform53(words.w[0], words.w[1]);
  }
  int below(int n) { return std::min(n - 1, int(uniform() * n)); }

 private:
  Philox philox_;
  std::uint64_t stream_, next_ = 0;
};

template <class T>
std::vector<T> first_parameters(const MemberSizes& s, Draws& draws) {
  std::vector<T> p(std::size_t(s.count()));
  const auto fill = [&](std::ptrdiff_t from, std::ptrdiff_t to, double inputs) {
    for (std::ptrdiff_t i = from; i < to; ++i)
      p[std::size_t(i)] = T((2 * draws.uniform() - 1) / std::sqrt(inputs));
  };
  fill(s.input(), s.of_state(),
       s.hidden);  // as in PyTorch: 1 / sqrt(units) for a GRU, 1 / sqrt(inputs) for a layer
  fill(s.of_state(), s.out(), s.hidden + MemberSizes::planned);
  fill(s.out(), s.count(), MemberSizes::head);
  return p;
}

/// AdamW with the gradient clipped at norm 1.
template <class T>
class AdamW {
 public:
  explicit AdamW(std::size_t n, double decay) : m_(n), v_(n), decay_(decay) {}
  void step(std::vector<T>& p, const std::vector<T>& gradient, double rate) {
    constexpr double first = 0.9, second = 0.999;
    double squares = 0;
    for (const T g : gradient) squares += double(g) * double(g);
    const T scale = T(clip_scale(squares));
    one_ *= first, two_ *= second;
    const T keep = T(1 - rate * decay_), by = T(rate / (1 - one_)), root = T(1 / std::sqrt(1 - two_));
    in_vectors(std::int64_t(p.size()), [&](std::int64_t j) {
      const auto i = std::size_t(j);
      const T g = gradient[i] * scale;
      m_[i] += T(1 - first) * (g - m_[i]), v_[i] += T(1 - second) * (g * g - v_[i]);
      p[i] = p[i] * keep - by * m_[i] / (std::sqrt(v_[i]) * root + T(1e-8));
    });
  }

 private:
  std::vector<T> m_, v_;
  double decay_, one_ = 1, two_ = 1;
};

/// A member that is trained in lanes of the CPU.
template <class T>
class LaneMember {
 public:
  LaneMember(const Windows& windows, const MemberSizes& sizes, std::vector<T> parameters,
             const TrainingOptions& options)
      : sizes_(sizes),
        closed_(options.closed_loop),
        parameters_(std::move(parameters)),
        gradient_(parameters_.size()),
        tape_(windows, sizes),
        adam_(parameters_.size(), options.weight_decay) {}

  void update(const Update& u) {
    const std::span<const Place> places(u.places);
    std::fill(gradient_.begin(), gradient_.end(), T(0));
    for (std::size_t i = 0; i < places.size(); i += training_lanes)
      tape_.add_gradient({sizes_, parameters_.data()},
                         places.subspan(i, std::min<std::size_t>(training_lanes, places.size() - i)), u.start,
                         int(places.size()), closed_, gradient_.data());
    adam_.step(parameters_, gradient_, u.rate);
  }
  const std::vector<T>& parameters() const { return parameters_; }

 private:
  MemberSizes sizes_;
  double closed_;
  std::vector<T> parameters_, gradient_;
  Tape<T> tape_;
  AdamW<T> adam_;
};

/// Rises by a cosine from 1/25 to the highest rate in 3/10 of the updates, and falls by one to 1/250,000 of it.
double one_cycle(double highest, double update, double updates) {
  const auto between = [](double a, double b, double share) {
    return b + (a - b) / 2 * (1 + std::cos(std::numbers::pi * share));
  };
  const double turn = std::max(1.0, 0.3 * updates - 1);
  return update <= turn
             ? between(highest / 25, highest, update / turn)
             : between(highest, highest / 25e4, (update - turn) / std::max(1.0, updates - 1 - turn));
}

/// Returns as many windows as there are, those of runs drawn with replacement: windows of one run are not independent.
std::vector<int> bootstrap(const Windows& windows, Draws& draws) {
  const auto& all = windows.windows;
  std::vector<std::vector<int>> of_run(windows.runs.size());
  for (int i = 0; i < windows.count(); ++i) of_run[std::size_t(all[std::size_t(i)].run)].push_back(i);
  std::erase_if(of_run, [](const std::vector<int>& run) { return run.empty(); });
  std::vector<int> sample;
  while (sample.size() < all.size()) {
    const std::vector<int>& run = of_run[std::size_t(draws.below(int(of_run.size())))];
    sample.insert(sample.end(), run.begin(), run.end());
  }
  sample.resize(all.size());
  return sample;
}

/// The updates of a member, and the parameters that it begins with.
template <class T>
class Course {
 public:
  Course(const Windows& windows, const TrainingOptions& options, std::uint64_t number)
      : windows_(windows),
        rate_(options.rate),
        draws_(options.seed, number),
        parameters(first_parameters<T>({options.hidden}, draws_)) {
    if (!windows.count()) return;
    sample_ = bootstrap(windows, draws_);
    batches_ = std::max(1, windows.count() / batch);
    updates = std::min(std::int64_t(options.epochs) * batches_, options.most_updates);
  }
  Update next() {
    const int count = windows_.count();
    const auto part = std::size_t(done_ % batches_);
    if (!part)
      for (int i = count - 1; i > 0; --i)
        std::swap(sample_[std::size_t(i)], sample_[std::size_t(draws_.below(i + 1))]);
    Update update{.start = ahead + draws_.below(window - 2 * ahead - 2),
                  .rate = one_cycle(rate_, double(done_), double(updates))};
    for (const int i :
         std::span<const int>(sample_).subspan(part * batch, std::size_t(std::min(count, batch)))) {
      const Windows::Window& w = windows_.windows[std::size_t(i)];
      const int room = windows_.runs[std::size_t(w.run)].blocks() - least_window - w.first;
      update.places.push_back({w.run, w.first + draws_.below(std::min(window / 2, room + 1))});
    }
    ++done_;
    return update;
  }

 private:
  const Windows& windows_;
  double rate_;
  Draws draws_;
  std::vector<int> sample_;
  std::int64_t batches_ = 1, done_ = 0;

 public:
  std::vector<T> parameters;
  std::int64_t updates = 0;
};

}  // namespace

void TrainingOptions::check() const {
  require(members >= 1 && members <= 64, "world model: members must be from 1 to 64");
  require(hidden >= 4 && hidden <= 1024, "world model: hidden must be from 4 to 1024");
  require(epochs >= 1 && rate > 0 && weight_decay >= 0 && closed_loop >= 0,
          "world model: epochs and rate must be above 0");
}

std::vector<std::pair<std::size_t, std::size_t>> stretches(const Blocks& blocks) {
  constexpr std::size_t longest_gap = 3;
  std::vector<std::pair<std::size_t, std::size_t>> all;
  std::size_t first = 0, end = 0;  // `end`: after the last block that is known
  for (std::size_t i = 0; i < blocks.loss.size(); ++i) {
    if (!blocks.knows(i)) continue;
    if (i > end + longest_gap) {
      all.emplace_back(first, end);
      first = i;
    }
    end = i + 1;
  }
  all.emplace_back(first, end);
  return all;
}

Windows::Windows(std::span<const Blocks* const> all) {
  for (const Blocks* blocks : all) {
    const TrainingInputs in({*blocks, blocks->loss.size()}, {});
    for (const auto& [begin, end] : stretches(*blocks)) {
      Run run;
      for (std::size_t i = begin; i < end; ++i) {
        run.trace.push_back(in.trace[i]);
        run.block.insert(run.block.end(), in.block[i].begin(), in.block[i].end());
        run.planned.insert(run.planned.end(), in.planned[i].begin(), in.planned[i].end());
      }
      for (int first = 0; first + least_window <= run.blocks(); first += window / 2)
        windows.push_back({int(runs.size()), first});
      runs.push_back(std::move(run));
    }
  }
}

template <class T>
std::vector<std::vector<T>> train_members(const Windows& windows, const TrainingOptions& options,
                                          std::span<const std::uint64_t> numbers) {
  std::vector<std::vector<T>> members;
  std::vector<std::vector<Update>> courses;
  for (const std::uint64_t number : numbers) {
    Course<T> course(windows, options, number);
    if (options.device.kind == DeviceKind::cpu) {
      LaneMember<T> member(windows, {options.hidden}, course.parameters, options);
      for (std::int64_t u = 0; u < course.updates; ++u) member.update(course.next());
      members.push_back(member.parameters());
      continue;
    }
    members.push_back(course.parameters);
    courses.emplace_back();
    for (std::int64_t u = 0; u < course.updates; ++u) courses.back().push_back(course.next());
  }
  if (courses.empty()) return members;
  return train_on_device<T>(windows, options, std::move(members), courses);
}
template std::vector<std::vector<float>> train_members(const Windows&, const TrainingOptions&,
                                                       std::span<const std::uint64_t>);
template std::vector<std::vector<double>> train_members(const Windows&, const TrainingOptions&,
                                                        std::span<const std::uint64_t>);

}  // namespace kolmo::predict
