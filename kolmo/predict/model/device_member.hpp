#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/ops/recurrent/gru_backward/gru_backward.hpp"
#include "kolmo/predict/model/inputs.hpp"
#include "kolmo/predict/model/train.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::predict {

/// A member that is trained by operators on a device: gru_forward, gru_backward, linear, matmul and adamw_step. Its weights and their
/// moments stay there. The host computes what follows from the 32 units of the head and the trace of the loss, step by step. An
/// update is that of Tape and AdamW (train.cpp) but for the order of sums. Float or double.
template <class T>
class DeviceMember {
 public:
  /// `parameters`: as MemberSizes lays them out. `batch`: the windows of an update.
  DeviceMember(const Windows& windows, const MemberSizes& sizes, std::span<const T> parameters, int batch,
               const TrainingOptions& options);

  /// Takes the gradient of the mean loss of the windows, which are read up to block `start`, and makes a step of AdamW.
  void update(std::span<const Windows::Window> places, int start, double rate);
  std::vector<T> parameters();

 private:
  static constexpr int inputs = MemberSizes::inputs, planned = MemberSizes::planned, head = MemberSizes::head;
  static constexpr int first_head = 5;  // blocks that a member reads before it predicts

  /// The gradient or the parameters, in the order of the device.
  struct Parts {
    Tensor all, ih, hh, bias_ih, bias_hh, of_state, tail;
  };
  /// The place of a block of a window on the host.
  std::size_t at(int block, int w) const { return std::size_t(block) * std::size_t(batch_) + std::size_t(w); }
  Tensor take(std::initializer_list<std::int64_t> shape);
  Parts parts();
  void up(const Tensor& to, std::vector<T>& from) { stream_.copy(to, tensor(from.data(), {to.size()})); }
  void down(std::vector<T>& to, const Tensor& from);
  void load(std::span<const Windows::Window> places, int start);
  void forward(int start, int end);
  void imagine(int t, int start);
  void backward(int start, int end);
  void head_gradient(int t, const std::vector<T>& of_d);
  void gru_gradient(GruBackwardArgs a, bool first);
  /// In closed loop: the input of block t, the state before it and the state after it.
  Tensor block_x(int t, int start) const;
  Tensor before(int t, int start) const;
  Tensor after(int t, int start) const;

  const Windows& windows_;
  MemberSizes sizes_;
  int n_, batch_;
  T closed_;
  double decay_;
  std::int64_t steps_ = 0;
  Stream stream_;
  std::vector<Buffer> buffers_;
  std::vector<std::ptrdiff_t> place_;  // of each parameter of the device in MemberSizes; -1: it has none
  Parts weights_, gradient_, part_;
  Tensor first_, second_, norm_, scale_;
  Tensor x_, states_, zero_, head_, of_head_,
      of_states_;  // of the blocks that are read: [window][block][unit]
  Tensor closed_x_, closed_states_, closed_head_,
      closed_of_head_;  // of those in closed loop: [block][window][unit]
  Tensor last_, of_state_, carry_, carried_, of_x_, of_read_x_;
  // On the host, [block][window][unit], and those with _read [window][block][unit].
  std::vector<T> tail_, tail_gradient_, in_, plan_, a_, change_, level_, target_, next_, weight_, host_,
      sent_, read_, of_read_;
  std::vector<LossTrace<T>> trace_;
};

}  // namespace kolmo::predict
