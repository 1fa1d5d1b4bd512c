#pragma once
#include <limits>
#include <type_traits>

#include "kolmo/ops/image/pixel_tda/merge_tree.hpp"
#include "kolmo/ops/image/pixel_tda/pixel_tda.hpp"
#include "kolmo/skeleton/ranks.hpp"

namespace kolmo {

/// The type of births and deaths in images of T.
template <class T>
using Persistence = std::conditional_t<std::is_same_v<T, double>, double, float>;

struct TdaSpace {
  std::int64_t h, w, images;
  Word* triplet;
  Ranks ranks;

  TdaSpace(Arena& arena, const PixelTdaArgs& a)
      : h(a.x.dim(-2)),
        w(a.x.dim(-1)),
        images(h * w > 0 ? a.x.size() / (h * w) : 0),
        triplet(arena.take<Word>(images * (h * w + 1))),
        ranks(arena, a.x.size()) {}
};

/// For pixel i of all images: the birth and death of the component, or hole, whose first pixel it is.
template <class T>
struct Lives {
  using Y = Persistence<T>;
  MergeTree<T> tree;
  double least;

  struct Life {
    std::int64_t birth, death;  ///< pixels; -1: none
    Y from, to;
  };
  KOLMO_HD Life life(std::int64_t i) const {
    const std::int64_t area = tree.h * tree.w, image = quotient(i, area);
    const auto own = tree.image(image).at(typename MergeTree<T>::Pixel(i - image * area));
    if (own.saddle() == tree.never) return {i, -1, Y(tree.x[i]), std::numeric_limits<Y>::infinity()};
    const std::int64_t other = image * area + own.saddle(), birth = tree.holes ? other : i,
                       death = tree.holes ? i : other;
    return {birth, death, Y(tree.x[birth]), Y(tree.x[death])};
  }
  KOLMO_HD bool operator()(std::int64_t i) const {
    const Life l = life(i);
    return l.death < 0 || double(l.to) - double(l.from) > least;
  }
};

template <class T>
struct WriteDiagram {
  using Y = Persistence<T>;
  Lives<T> lives;
  Ranks ranks;
  std::int64_t capacity;
  Y* pairs;
  std::int64_t* places;
  Y* lifetimes;
  std::int64_t items() const { return ranks.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const bool has = ranks.has(i);
    if (!has && !lifetimes) return;
    const auto life = lives.life(i);
    if (lifetimes) {
      const std::int64_t area = lives.tree.h * lives.tree.w, image = quotient(i, area);
      lifetimes[i + (image + lives.tree.holes) * area] = has ? life.to - life.from : Y(0);
    }
    if (!has) return;
    const std::int64_t r = ranks(i);
    if (r >= capacity) return;
    pairs[2 * r] = life.from, pairs[2 * r + 1] = life.to;
    if (places) places[2 * r] = life.birth, places[2 * r + 1] = life.death;
  }
};

/// Computes the operator; step(f) calls f(i) for all items of f.
template <class Step>
void find_diagrams(const PixelTdaArgs& a, const TdaSpace& space, Status status, const Step& step) {
  visit<double, float, std::uint16_t, std::uint8_t>(a.x.dtype, [&]<class T> {
    for (const bool holes : {false, true}) {
      const bool corners = (a.cells == CubicalCells::squares) != holes;
      const MergeTree<T> tree{a.x.as<T>(), space.triplet, space.h, space.w, space.images, corners, holes};
      build(tree, holes ? Status() : status, step);
      const Lives<T> lives{tree, a.min_persistence};
      using Y = Persistence<T>;
      find_ranks(space.ranks, lives, (holes ? a.count1 : a.count0).template as<std::int64_t>(), step);
      step(WriteDiagram<T>{lives, space.ranks, a.capacity, (holes ? a.h1 : a.h0).template as<Y>(),
                           (holes ? a.place1 : a.place0).template as<std::int64_t>(), a.lifetimes.as<Y>()});
    }
  });
}

}  // namespace kolmo
