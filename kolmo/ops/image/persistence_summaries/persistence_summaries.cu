#include "kolmo/ops/image/persistence_summaries/summary_terms.hpp"
#include "kolmo/skeleton/row_sum.cuh"

namespace kolmo {

extern constinit const Impl<BettiCurveArgs> betti_curve_cuda = cuda::row_sum<BettiCurve>();
extern constinit const Impl<PersistenceImageArgs> persistence_image_cuda = cuda::row_sum<PersistenceImage>();

}  // namespace kolmo
