#include "kolmo/ops/image/image_segmentation/segments.hpp"
#include "kolmo/skeleton/item_steps.cuh"

namespace kolmo {

extern constinit const Impl<ImageSegmentationArgs> image_segmentation_cuda{
    {.launch = [](const ImageSegmentationArgs& a, Arena arena, Stream& s,
                  int) { segment(a, Segments(arena, a), cuda::ItemSteps{s}); },
     .lay = [](Arena& arena, const ImageSegmentationArgs& a, const Site&) { Segments(arena, a); }}};

}  // namespace kolmo
