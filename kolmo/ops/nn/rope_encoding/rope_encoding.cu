#include "kolmo/ops/nn/rope_encoding/rope_items.hpp"
#include "kolmo/skeleton/steps.cuh"

namespace kolmo {
namespace {
using A = RopeEncodingArgs;

void launch(const A& a, Arena arena, Stream& s, int row) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> {
    const RopeTables<Compute<T>> tables(arena, a);
    const RotateItem<T> rotate(a, tables);
    cuda::do_step(tables, s);
    cuda::select<std::size(cuda::item_rows)>(
        row, [&]<int V> { cuda::do_step<cuda::item_rows[V].config>(rotate, s); });
  });
}

void lay(Arena& arena, const A& a, const Site&) {
  visit<double, float, Half, BFloat16>(a.x.dtype, [&]<class T> { RopeTables<Compute<T>>(arena, a); });
}

}  // namespace

extern constinit const Impl<A> rope_encoding_cuda{{.rows = cuda::item_rows, .launch = launch, .lay = lay}};

}  // namespace kolmo
