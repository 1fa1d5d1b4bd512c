#include "kolmo/predict/model/device_members.hpp"

#include <algorithm>

#include "kolmo/ops/training/adamw_step/adamw_step.hpp"
#include "kolmo/ops/training/world_model_gradient/world_model_gradient.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::predict {
namespace {

/// Tensors of a stream's device.
class OnDevice {
 public:
  explicit OnDevice(Device device) : stream(device, 1) {}
  template <class T>
  Tensor take(std::initializer_list<std::int64_t> shape) {
    Tensor t = tensor(static_cast<T*>(nullptr), shape, stream.device());
    buffers_.emplace_back(t.bytes(), stream);
    t.data = buffers_.back().data();
    return t;
  }
  /// Uploads values that live until the stream is synchronised.
  template <class T>
  Tensor upload(std::vector<T>& values, std::initializer_list<std::int64_t> shape) {
    const Tensor t = take<T>(shape);
    stream.copy(t, tensor(values.data(), shape));
    return t;
  }
  Stream stream;

 private:
  std::vector<Buffer> buffers_;
};

/// The inputs of an operator for all runs, one after the other.
template <class T>
struct AllBlocks {
  std::vector<T> block, planned, trace;
  std::vector<std::int64_t> first;  ///< block of each run

  explicit AllBlocks(const Windows& windows) {
    for (const Windows::Run& run : windows.runs) {
      first.push_back(std::int64_t(trace.size() / 5));
      block.insert(block.end(), run.block.begin(), run.block.end());
      planned.insert(planned.end(), run.planned.begin(), run.planned.end());
      for (const LossTrace<double>& t : run.trace)
        for (const double v : {t.level, t.fast_mean, t.slow_mean, t.anchor, t.trend}) trace.push_back(T(v));
    }
  }
  std::int64_t count() const { return std::int64_t(trace.size() / 5); }
};

/// A part of an array of updates, whose elements have `shape`.
template <class T>
Tensor of_update(const Tensor& all, std::int64_t update, std::initializer_list<std::int64_t> shape) {
  Tensor t = tensor(all.as<T>(), shape, all.device);
  t.data = all.as<T>() + update * t.size();
  return t;
}

}  // namespace

template <class T>
std::vector<std::vector<T>> train_on_device(const Windows& windows, const TrainingOptions& options,
                                            std::vector<std::vector<T>> parameters,
                                            const std::vector<std::vector<Update>>& courses) {
  const std::int64_t members = std::int64_t(courses.size()), updates = std::int64_t(courses[0].size()),
                     count = MemberSizes{options.hidden}.count();
  if (!updates) return parameters;
  const std::int64_t share = std::int64_t(courses[0][0].places.size());
  AllBlocks<T> blocks(windows);
  std::vector<std::int64_t> first, length, start;
  for (std::int64_t u = 0; u < updates; ++u)
    for (const std::vector<Update>& course : courses) {
      const Update& update = course[std::size_t(u)];
      start.push_back(update.start);
      for (const Windows::Window& w : update.places) {
        first.push_back(blocks.first[std::size_t(w.run)] + w.first);
        length.push_back(std::min(window, windows.runs[std::size_t(w.run)].blocks() - w.first));
      }
    }
  std::vector<T> values, zeros(std::size_t(members * count), T(0));
  for (const std::vector<T>& p : parameters) values.insert(values.end(), p.begin(), p.end());

  OnDevice device(options.device);
  const Tensor firsts = device.upload(first, {updates, members, share}),
               lengths = device.upload(length, {updates, members, share}),
               starts = device.upload(start, {updates, members}),
               weights = device.upload(values, {members, count}),
               moment = device.upload(zeros, {members, count}),
               second_moment = device.upload(zeros, {members, count}),
               gradient = device.take<T>({members, count});
  WorldModelGradientArgs a{.blocks = device.upload(blocks.block, {blocks.count(), MemberSizes::inputs}),
                           .planned = device.upload(blocks.planned, {blocks.count(), MemberSizes::planned}),
                           .trace = device.upload(blocks.trace, {blocks.count(), 5}),
                           .parameters = weights,
                           .gradient = gradient,
                           .loss = device.take<T>({members}),
                           .hidden = options.hidden,
                           .window = window,
                           .ahead = ahead,
                           .closed = options.closed_loop,
                           .clip = 1};
  for (std::int64_t u = 0; u < updates; ++u) {
    a.first = of_update<std::int64_t>(firsts, u, {members, share});
    a.length = of_update<std::int64_t>(lengths, u, {members, share});
    a.start = of_update<std::int64_t>(starts, u, {members});
    world_model_gradient(a, device.stream);
    adamw_step({.gradient = gradient,
                .parameters = weights,
                .first_moment = moment,
                .second_moment = second_moment,
                .rate = courses[0][std::size_t(u)].rate,
                .weight_decay = options.weight_decay,
                .step = u + 1},
               device.stream);
  }
  device.stream.copy(tensor(values.data(), {members, count}), weights);
  device.stream.synchronize();
  for (std::size_t m = 0; m < parameters.size(); ++m)
    std::copy_n(values.begin() + std::ptrdiff_t(m) * count, count, parameters[m].begin());
  return parameters;
}

template std::vector<std::vector<float>> train_on_device(const Windows&, const TrainingOptions&,
                                                         std::vector<std::vector<float>>,
                                                         const std::vector<std::vector<Update>>&);
template std::vector<std::vector<double>> train_on_device(const Windows&, const TrainingOptions&,
                                                          std::vector<std::vector<double>>,
                                                          const std::vector<std::vector<Update>>&);

}  // namespace kolmo::predict
