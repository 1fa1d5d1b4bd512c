#include "kolmo/ops/image/pixel_entropy/windows.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {
namespace {
using A = PixelEntropyArgs;

constexpr int window_block = 64;

template <class Level>
__global__ void __launch_bounds__(window_block)
    slide(SlidingWindow<Level> windows, std::uint16_t* counts, std::int64_t levels) {
  std::uint16_t* const own = counts + cuda::thread_index() * levels;
  for (std::int64_t i = cuda::thread_index(); i < windows.items(); i += cuda::thread_count()) windows(i, own);
}

/// Number of threads. Each has a histogram; all histograms together have at most 256 MiB.
std::int64_t workers(const A& a) {
  constexpr std::int64_t most = 1 << 17, counts = std::int64_t(1) << 27;
  const std::int64_t items = SlidingWindow<std::uint8_t>(a, nullptr, nullptr).items(),
                     limit = std::min(most, counts / EntropySpace::levels_of(a)) / window_block;
  return std::int64_t(cuda::blocks(items, window_block, limit)) * window_block;
}

void launch(const A& a, Arena arena, Stream& s, int) {
  const EntropySpace space(arena, a, workers(a));
  entropy_of_windows(a, space, s.status(), cuda::ItemSteps{s},
                     [&]<class Level>(SlidingWindow<Level> windows) {
                       cuda::launch(slide<Level>, unsigned(workers(a) / window_block), window_block, 0,
                                    cuda::native(s), windows, space.count, space.levels);
                     });
}

}  // namespace

extern constinit const Impl<A> pixel_entropy_cuda{
    {.launch = launch,
     .lay = [](Arena& arena, const A& a, const Site&) { EntropySpace(arena, a, workers(a)); }}};

}  // namespace kolmo
