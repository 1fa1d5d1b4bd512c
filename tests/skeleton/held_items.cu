// How the blocks of a grid share the items of long rows (skeleton/held_rows.cuh), for grids of many blocks.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "kolmo/skeleton/held_rows.cuh"

namespace kolmo::cuda {
namespace {

/// What one block has: of each item the index among all items and the element where a cursor finds it; of each of its rows the
/// place of its part and whether the tail is its own.
struct Share {
  int count = 0, first = 0, rows = 0;
  int item[64];
  std::int64_t at[64];
  int place[rows_of_block], places_begin[rows_of_block], places[rows_of_block];
  bool ends[rows_of_block], owner[64];
};

__global__ void list_items(int rows, int k, int length, int of_row, int each, Share* shares) {
  const HeldItems items(rows, k, length, of_row, each);
  Share& s = shares[blockIdx.x];
  s.count = items.count, s.first = items.first, s.rows = items.rows();
  auto cursor = items.at(0, std::int64_t(0));
  for (int i = 0; i < items.count; ++i) {
    s.item[i] = (items.first + items.row(i)) * of_row + items.column(i) / length;
    s.at[i] = cursor.at;
    s.owner[i] = items.block_of(s.item[i]) == int(blockIdx.x);
    items.advance(cursor);
  }
  for (int r = 0; r < items.rows(); ++r) {
    const auto blocks = items.blocks_of(items.first + r);
    s.place[r] = items.place(r), s.places_begin[r] = blocks.place, s.places[r] = blocks.count;
    s.ends[r] = items.ends(r);
  }
}

void check_shares(int rows, int of_row, int tail, int blocks) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << of_row << " items, tail " << tail << ", "
                                  << blocks << " blocks");
  constexpr int length = 8;
  const int k = of_row * length + tail, items = rows * of_row;
  std::vector<Share> shares(static_cast<std::size_t>(blocks));
  launch(list_items, unsigned(blocks), 1, 0, nullptr, rows, k, length, of_row, items / blocks, shares.data());
  std::set<int> seen, places;
  std::map<int, int> ends, parts;  // of each row
  for (const Share& s : shares) {
    EXPECT_GE(s.count, items / blocks);
    EXPECT_LE(s.count, (items + blocks - 1) / blocks);
    for (int i = 0; i < s.count; ++i) {
      EXPECT_TRUE(seen.insert(s.item[i]).second);
      EXPECT_TRUE(s.owner[i]);
      EXPECT_EQ(s.at[i], std::int64_t(s.item[i] / of_row) * k + s.item[i] % of_row * length);
    }
    for (int r = 0; r < s.rows; ++r) {
      EXPECT_TRUE(places.insert(s.place[r]).second);
      EXPECT_GE(s.place[r], s.places_begin[r]);
      EXPECT_LT(s.place[r], s.places_begin[r] + s.places[r]);
      ends[s.first + r] += s.ends[r], parts[s.first + r] += 1;
      EXPECT_LE(parts[s.first + r], s.places[r]);
    }
  }
  EXPECT_EQ(int(seen.size()), items);
  EXPECT_EQ(*seen.rbegin(), items - 1);
  EXPECT_EQ(int(parts.size()), rows);
  for (const auto& [row, count] : ends) EXPECT_EQ(count, tail != 0);
  for (const Share& s : shares)
    for (int r = 0; r < s.rows; ++r) EXPECT_EQ(parts[s.first + r], s.places[r]);
}

TEST(HeldItems, EveryItemAndTailHasOneBlockAndEveryPartAPlace) {
  for (const int tail : {0, 4}) {
    check_shares(1, 2048, tail, 128);  // equal shares
    check_shares(1, 305, tail, 102);   // three or two items
    check_shares(2, 158, tail, 106);   // blocks with items of both rows
    check_shares(2, 132, tail, 132);
    check_shares(3, 109, tail, 109);  // ranges, of which each row begins one
    check_shares(5, 170, tail, 122);  // ranges across the ends of rows
    check_shares(16, 24, tail, 128);
    check_shares(16, 25, tail, 101);
  }
}

}  // namespace
}  // namespace kolmo::cuda
