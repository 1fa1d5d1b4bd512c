#include "kolmo/ops/nn/embedding_lookup/embedding_lookup.hpp"

#include <algorithm>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/nn/embedding_lookup/lookup_items.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = EmbeddingLookupArgs;

constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"v", 1}, {"d", 1}, {"...", 1}}},
    {.name = "v=10 d=7 f64", .sizes = {{"v", 10}, {"d", 7}, {"...", 33}}},
    {.name = "v=100 d=64 f32, i32",
     .sizes = {{"v", 100}, {"d", 64}, {"...", 257}},
     .dtype = DType::f32,
     .dtypes = {{"I", DType::i32}}},
    {.name = "v=1000 d=24 f16", .sizes = {{"v", 1000}, {"d", 24}, {"...", 65}}, .dtype = DType::f16},
    {.name = "v=3 d=9 bf16", .sizes = {{"v", 3}, {"d", 9}, {"...", 100}}, .dtype = DType::bf16},
    {.name = "65536 rows of 1024 from 50000 f32",
     .sizes = {{"v", 50000}, {"d", 1024}, {"...", 65536}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "65536 rows of 1024 from 50000 f16",
     .sizes = {{"v", 50000}, {"d", 1024}, {"...", 65536}},
     .dtype = DType::f16,
     .benchmark_only = true},
};
constexpr std::string_view faults[] = {"index is not a row of the table"};

constinit const Definition<A> definition{{.name = "embedding_lookup",
                                          .summary = "y[..., :] = table[index[...], :]",
                                          .source = "Bengio et al., JMLR 3, 2003",
                                          .determinism = Determinism::everywhere,
                                          .faults = faults},
                                         {.flops = [](const A&) { return 0.0; }, .cases = cases}};

void launch(const A& a, Arena, Stream& s, int) {
  LookupItems::visit_type(a, [&]<class T> {
    LookupItem<T> f(a);
    f.status = s.status();
    if (f.columns == 0) return;
    const auto copy_rows = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        T* const to = f.y + row * f.columns;
        if (const T* const from = f.entry(row))
          std::copy_n(from, f.columns, to);
        else
          std::fill_n(to, f.columns, T{}), f.status.report(0, row);
      }
    };
    constexpr std::int64_t elements_at_a_time = 1 << 14;
    parallel_ranges(s.threads(), f.rows, copy_rows,
                    std::max<std::int64_t>(1, elements_at_a_time / f.columns));
  });
}

}  // namespace

constinit const Op<A> embedding_lookup{definition};
extern constinit const Impl<A> embedding_lookup_cpu{ImplCode<A>{.launch = launch}};

}  // namespace kolmo
