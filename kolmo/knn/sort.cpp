#include "kolmo/knn/sort.hpp"

#include <hwy/contrib/sort/vqsort.h>

namespace kolmo::knn {

static_assert(sizeof(SortKey) == sizeof(hwy::uint128_t) && alignof(SortKey) == alignof(hwy::uint128_t) &&
              offsetof(hwy::uint128_t, hi) == offsetof(SortKey, high));

void sort(SortKey* keys, std::size_t n) {
  hwy::Sorter()(reinterpret_cast<hwy::uint128_t*>(keys), n, hwy::SortAscending());
}
void sort(std::uint64_t* keys, std::size_t n) { hwy::Sorter()(keys, n, hwy::SortAscending()); }
void sort(double* keys, std::size_t n) { hwy::Sorter()(keys, n, hwy::SortAscending()); }
void sort(float* keys, std::size_t n) { hwy::Sorter()(keys, n, hwy::SortAscending()); }

}  // namespace kolmo::knn
