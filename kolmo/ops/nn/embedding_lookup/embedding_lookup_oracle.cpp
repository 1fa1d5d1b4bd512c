#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/embedding_lookup/embedding_lookup.hpp"

namespace kolmo::check {
namespace {
using A = EmbeddingLookupArgs;

void expected(const A& a) {
  const std::int64_t d = a.table.dim(-1);
  for (std::int64_t row = 0; row < a.index.size(); ++row)
    for (std::int64_t i = 0; i < d; ++i)
      put(a.y, row * d + i, get(a.table, std::int64_t(get(a.index, row)) * d + i));
}

constexpr Fact facts[] = {
    {"rows 2, 0, 2 of three",
     [](Stream& s) {
       float table[] = {1, 2, 3, 4, 5, 6}, y[6] = {};
       std::int64_t index[] = {2, 0, 2};
       call(embedding_lookup,
            {.table = tensor(table, {3, 2}), .index = tensor(index, {3}), .y = tensor(y, {3, 2})}, s);
       expect(y[0] == 5 && y[1] == 6 && y[2] == 1 && y[3] == 2 && y[4] == 5 && y[5] == 6, "wrong rows");
     }},
    {"an index outside the table is told with its place",
     [](Stream& s) {
       double table[] = {1, 2}, y[6] = {};
       for (const std::int32_t wrong : {2, -1}) {
         std::int32_t index[] = {0, wrong, 1, wrong, 0, 0};
         const A a{.table = tensor(table, {2, 1}), .index = tensor(index, {6}), .y = tensor(y, {6, 1})};
         expect_invalid([&] { call(embedding_lookup, a, s); },
                        "embedding_lookup: index is not a row of the table at element 1");
       }
     }},
    {"unchecked, its row is 0",
     [](Stream& s) {
       float table[] = {1, 2}, y[4] = {7, 7, 7, 7};
       std::int64_t index[] = {1ll << 40, 1, -5, 0};
       s.check_data(false);
       call(embedding_lookup,
            {.table = tensor(table, {2, 1}), .index = tensor(index, {4}), .y = tensor(y, {4, 1})}, s);
       s.check_data(true);
       expect(y[0] == 0 && y[1] == 2 && y[2] == 0 && y[3] == 1, "wrong rows");
     }},
};

}  // namespace

extern constinit const Oracle<A> embedding_lookup_oracle{embedding_lookup, expected, facts};

}  // namespace kolmo::check
