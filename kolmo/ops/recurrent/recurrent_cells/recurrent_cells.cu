#include <algorithm>

#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/ops/recurrent/recurrent_cells/cells.hpp"
#include "kolmo/ops/recurrent/recurrent_cells/fused_cells.cuh"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {

constexpr Row<bool> ways[] = {{"products and gates", false}, {"one kernel", true}};
constexpr bool fused(int row) { return ways[row].config; }

struct LstmFinish {
  LstmUnit<float> unit;
  __device__ void operator()(int at, const float (&sum)[4]) const {
    unit.put(at, sum[0], sum[1], sum[2], sum[3]);
  }
};
struct GruFinish {
  const float* h;
  float* h_next;
  __device__ void operator()(int at, const float (&sum)[4]) const {
    h_next[at] = gru_state(gate(sum[1]), sum[3] + gate(sum[0]) * sum[2], h[at]);
  }
};

template <class A>
cuda::CellProducts products_of(const A& a) {
  const auto bias = [](const Tensor& t) { return t.given() ? t.as<float>() : nullptr; };
  const int n = int(a.h.dim(-1));
  return {a.x.template as<float>(),
          a.h.template as<float>(),
          a.weight_ih.template as<float>(),
          a.weight_hh.template as<float>(),
          bias(a.bias_ih),
          bias(a.bias_hh),
          int(a.h.size() / n),
          int(a.x.dim(-1)),
          n};
}
template <class A>
std::int64_t fused_blocks(const A& a) {
  using S = cuda::CellTile;
  const std::int64_t n = a.h.dim(-1), rows = a.h.size() / n;
  return (rows + S::rows - 1) / S::rows * ((n + S::units - 1) / S::units);
}

struct Copy {
  const float* from;
  float* to;
  std::int64_t count;
  std::int64_t items() const { return count; }
  __device__ void operator()(std::int64_t i) const { to[i] = from[i]; }
};
/// Memory for a new state that is to replace h while other blocks still read h. The state is copied
/// afterwards.
class Aside {
 public:
  Aside(Arena& arena, const Tensor& h) : h_(h), data_(arena.take<float>(h.size())) {}
  float* place_of(const Tensor& next) const { return next.data == h_.data ? data_ : next.as<float>(); }
  void put(Stream& s) const { cuda::ItemSteps{s}(Copy{data_, h_.as<float>(), h_.size()}); }

 private:
  const Tensor& h_;
  float* data_;
};

template <int Gates, class Finish>
void run_fused(const cuda::CellProducts& p, std::int64_t blocks, const Finish& finish, Stream& s) {
  cuda::launch(cuda::fused_cell<Gates, Finish>, unsigned(blocks), cuda::CellTile::threads,
               cuda::fused_cell_bytes<Gates>(), cuda::native(s), p, finish);
}
void launch_lstm(const LstmCellArgs& a, Arena arena, Stream& s, int row) {
  if (!fused(row))
    return visit<double, float, Half, BFloat16>(
        a.h.dtype, [&]<class T> { lstm_step<T>(a, arena, s, cuda::ItemSteps{s}); });
  const Aside aside(arena, a.h);
  const LstmUnit<float> unit{
      nullptr,     nullptr,   a.c.as<float>(), aside.place_of(a.h_next), aside.place_of(a.c_next),
      a.h.dim(-1), a.h.size()};
  run_fused<4>(products_of(a), fused_blocks(a), LstmFinish{unit}, s);
  if (a.h_next.data == a.h.data || a.c_next.data == a.h.data) aside.put(s);
}
void launch_gru(const GruCellArgs& a, Arena arena, Stream& s, int row) {
  if (!fused(row))
    return visit<double, float, Half, BFloat16>(
        a.h.dtype, [&]<class T> { gru_step<T>(a, arena, s, cuda::ItemSteps{s}); });
  const Aside aside(arena, a.h);
  run_fused<3>(products_of(a), fused_blocks(a), GruFinish{a.h.as<float>(), aside.place_of(a.h_next)}, s);
  if (a.h_next.data == a.h.data) aside.put(s);
}

bool resets_after(const LstmCellArgs&) { return true; }
bool resets_after(const GruCellArgs& a) { return a.reset == GruReset::after; }

template <class A>
bool fits(const A& a, int row) {
  if (!fused(row)) return true;
  constexpr std::int64_t most = std::int64_t(1) << 30;
  const auto packed = [](const Tensor& t) {
    return t.size() <= most && t.dim(-1) % 4 == 0 && reinterpret_cast<std::uintptr_t>(t.data) % 16 == 0;
  };
  return a.h.dtype == DType::f32 && resets_after(a) && a.h.size() > 0 && packed(a.x) && packed(a.h) &&
         packed(a.weight_ih) && packed(a.weight_hh);
}
/// Chooses one kernel if its blocks, one for each multiprocessor, keep most of the device busy to the end. Few
/// states are limited by the speed of memory, for which matmul has its own kernels.
template <class A>
int preferred(const A& a) {
  if (!fits(a, 1)) return 0;
  const std::int64_t multiprocessors = cuda::multiprocessors(a.h.device.index);
  const std::int64_t blocks = fused_blocks(a), rounds = (blocks + multiprocessors - 1) / multiprocessors;
  return 3 * blocks >= 2 * rounds * multiprocessors && a.h.size() / a.h.dim(-1) > cuda::CellTile::rows / 2;
}

template <class Products, class A>
void lay(Arena& arena, const A& a, const Site& site) {
  if (fused(site.row))
    Aside(arena, a.h);
  else
    Products(arena, a).lay(arena, site);
}

}  // namespace

extern constinit const Impl<LstmCellArgs> lstm_cell_cuda{{.rows = ways,
                                                          .launch = launch_lstm,
                                                          .lay = lay<LstmProducts, LstmCellArgs>,
                                                          .fits = fits<LstmCellArgs>,
                                                          .preferred = preferred<LstmCellArgs>}};
extern constinit const Impl<GruCellArgs> gru_cell_cuda{{.rows = ways,
                                                        .launch = launch_gru,
                                                        .lay = lay<GruProducts, GruCellArgs>,
                                                        .fits = fits<GruCellArgs>,
                                                        .preferred = preferred<GruCellArgs>}};

}  // namespace kolmo
