#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct EmbeddingLookupArgs {
  In table, index;
  Out y;

  static constexpr auto fields() {
    using A = EmbeddingLookupArgs;
    return std::array{
        field<&A::table>("table", "v d", floats, "a row for each of v words"),
        field<&A::index>("index", "...", DTypes::of(DType::i64, DType::i32).as("I"), "numbers of rows")
            .indexes("v"),
        field<&A::y>("y", "... d", floats, "the rows"),
    };
  }
};

/// y[..., :] = table[index[...], :]; exact copies. table, y: one dtype of f64, f32, f16, bf16; index: i64 or i32.
/// An index below 0 or from v on is a fault, reported when results are read or the stream is synchronised;
/// its row of y is then 0. In the stream's unchecked mode (Stream::check_data) it is 0 and nothing is reported.
extern const Op<EmbeddingLookupArgs> embedding_lookup;

}  // namespace kolmo
