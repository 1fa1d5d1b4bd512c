#pragma once
#include "kolmo/knn/embedding.hpp"
#include "kolmo/knn/finite.hpp"
#include "kolmo/op/inside.hpp"
#include "kolmo/ops/info/ksg_conditional_mutual_information/ksg_conditional_mutual_information.hpp"
#include "kolmo/ops/info/ksg_transfer_entropy/ksg_transfer_entropy.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {

inline TransferEntropyEmbedding embedding_of(const KsgTransferEntropyArgs& a) {
  return {.target = {a.history, a.tau},
          .source = {a.source_history, a.source_tau},
          .lag = a.lag,
          .given = a.given.given() ? a.given.dim(0) : 0};
}
/// Number of rows of one trial: the samples whose whole past is available.
inline std::int64_t rows_per_trial(const KsgTransferEntropyArgs& a) {
  const std::int64_t rows = a.target.dim(1) - embedding_of(a).reach();
  return rows > 0 ? rows : 0;
}

/// Possible faults in the data, in the order of OpInfo::faults.
enum class TransferEntropyFault : std::int32_t { source, target, given };

/// Writes row r of x, y, z and time, for every device, and reports values that are not finite.
template <class T>
struct TransferEntropyRows {
  TransferEntropyEmbedding embedding;
  const T *source, *target, *given;
  // `samples` and `rows` are those of one trial, the others those of all trials.
  std::int64_t sources, samples, all_samples, rows, all_rows;
  T *x, *y, *z;
  std::int64_t *time, window;
  Status status;

  TransferEntropyRows(const KsgTransferEntropyArgs& a, Arena& arena, Status s = {})
      : embedding(embedding_of(a)),
        source(a.source.as<T>()),
        target(a.target.as<T>()),
        given(a.given.as<T>()),
        sources(a.source.dim(0)),
        samples(a.target.dim(1)),
        all_samples(a.target.dim(0) * samples),
        rows(rows_per_trial(a)),
        all_rows(a.target.dim(0) * rows),
        x(arena.take<T>(sources * all_rows * embedding.x_columns())),
        y(arena.take<T>(all_rows)),
        z(arena.take<T>(all_rows * embedding.z_columns())),
        time(arena.take<std::int64_t>(all_rows)),
        window(a.theiler),
        status(s) {}

  KOLMO_HD T read(TransferEntropyFault fault, const T* series, std::int64_t at) const {
    if (!is_finite(series[at])) status.report(int(fault), at);
    return series[at];
  }
  KOLMO_HD void operator()(std::int64_t r) const {
    using Fault = TransferEntropyFault;
    const TransferEntropyEmbedding& e = embedding;
    const std::int64_t trial = r / rows, at = trial * samples + e.reach() + r % rows;
    time[r] = at + trial * window;  // no window reaches from one trial into the next
    y[r] = read(Fault::target, target, at);
    embed_row(
        z + r * e.z_columns(), e.z_columns(), at, [&](std::int64_t c) { return e.z_lag(c); },
        [&](std::int64_t c, std::int64_t t) {
          return e.given_of(c) < 0 ? read(Fault::target, target, t)
                                   : read(Fault::given, given, e.given_of(c) * all_samples + t);
        });
    for (std::int64_t s = 0; s < sources; ++s)
      embed_row(
          x + (s * all_rows + r) * e.x_columns(), e.x_columns(), at,
          [&](std::int64_t c) { return e.x_lag(c); },
          [&](std::int64_t, std::int64_t t) { return read(Fault::source, source, s * all_samples + t); });
  }

  /// Returns the arguments of the estimation on the embedded rows.
  KsgConditionalMutualInformationArgs estimation(const KsgTransferEntropyArgs& a) const {
    const Device device = a.target.device;
    KsgConditionalMutualInformationArgs c{
        .x = tensor(x, {sources, all_rows, embedding.x_columns()}, device),
        .y = tensor(y, {all_rows, 1}, device),
        .z = tensor(z, {all_rows, embedding.z_columns()}, device),
        .time = tensor(time, {all_rows}, device),
        .value = tensor(a.value.as<double>(), {1, sources, 1 + a.surrogates}, device)};
    if (a.local.given()) c.local = tensor(a.local.as<double>(), {sources, all_rows}, device);
    copy_ksg_options(c, a);
    return c;
  }
};

/// Lays out the workspace, on every device: the rows, then the workspace of the estimation.
inline void lay_transfer_entropy(Arena& arena, const KsgTransferEntropyArgs& a, const Site& site) {
  visit<double, float>(a.source.dtype, [&]<class T> {
    const TransferEntropyRows<T> rows(a, arena);
    const KsgConditionalMutualInformationArgs inner = rows.estimation(a);
    lay_inside(ksg_conditional_mutual_information, &inner, arena, site);
  });
}

/// Embeds by `write_rows(rows)`, then estimates.
template <class WriteRows>
void run_transfer_entropy(const KsgTransferEntropyArgs& a, Arena scratch, Stream& stream,
                          const WriteRows& write_rows) {
  visit<double, float>(a.source.dtype, [&]<class T> {
    const TransferEntropyRows<T> rows(a, scratch, stream.status());
    write_rows(rows);
    const KsgConditionalMutualInformationArgs inner = rows.estimation(a);
    run_inside(ksg_conditional_mutual_information, &inner, scratch, stream);
  });
}

}  // namespace kolmo
