#include "kolmo/flow/infer/transfer_entropy_windows.hpp"

#include "kolmo/flow/estimate/inspect_series.hpp"
#include "kolmo/flow/estimate/neighbors.hpp"
#include "kolmo/flow/test/inspect_test.hpp"

namespace kolmo {

TransferEntropyWindows::TransferEntropyWindows(const Table& head, std::span<const std::size_t> columns,
                                               const WindowOptions& options, Device device,
                                               const PipelineOptions& pipeline,
                                               std::function<void(const WindowResult&)> take)
    : columns_(columns.begin(), columns.end()),
      options_(options),
      take_(std::move(take)),
      recent_(columns.size()),
      pipeline_(
          device, estimate_stages<Window>(), [this](auto& r) { finish(r); }, pipeline) {
  require(options.window >= 2 && options.step >= 1, "windows: window must be 2 or more rows, step 1 or more");
  const auto columns_of_task =
      1 + options.source_past.history + options.target_past.history + std::int64_t(options.given.size());
  const Transform transform = options.preparation.transform;
  const bool differences = transform == Transform::difference || transform == Transform::log_difference;
  const std::int64_t reached =
      std::max({options.source_past.reach(options.lag), options.target_past.reach(1), reach(options.given)});
  const std::int64_t samples = std::max<std::int64_t>(options.window - differences - reached, 0);
  options_.estimator = with_neighbors(options.estimator, samples, columns_of_task);
  head_.file = head.file, head_.names = head.names, head_.named = head.named;
  head_.columns.resize(head.names.size());
}

bool TransferEntropyWindows::add(std::span<const double> row) {
  require(row.size() == recent_.size(), "windows: a row has a value for every column");
  const auto window = std::size_t(options_.window);
  for (std::size_t c = 0; c < row.size(); ++c) {
    auto& v = recent_[c];
    if (v.size() >= 2 * window) v.erase(v.begin(), v.end() - std::ptrdiff_t(window));
    v.push_back(row[c]);
  }
  ++rows_;
  if (rows_ < options_.window || (rows_ - options_.window) % options_.step) return true;
  return pipeline_.submit(cut());
}

/// The latest window, ready to be estimated, or the reason why it cannot be.
TransferEntropyWindows::Window TransferEntropyWindows::cut() const {
  Window w;
  w.result.first = rows_ - options_.window, w.result.last = rows_ - 1;
  try {
    Table table = head_;
    table.columns[0].assign(std::size_t(options_.window), 0);  // only its size matters: the number of rows
    for (std::size_t i = 0; i < columns_.size(); ++i)
      table.columns[columns_[i]].assign(recent_[i].end() - std::ptrdiff_t(options_.window), recent_[i].end());
    w.series = std::make_unique<Series>(make_series(table, columns_, options_.preparation));
    w.result.constant = constant_stretches(*w.series);
    w.tasks.push_back(transfer_entropy_task(*w.series, options_.source, options_.target, options_.given,
                                            options_.source_past, options_.target_past, options_.lag));
    w.result.samples = std::int64_t(w.tasks[0].times.size());
    w.batch = EstimateBatch(*w.series, w.tasks, options_.estimator, options_.estimator.draws());
  } catch (const InvalidArgument& e) {
    w.result.error = e.what();
  }
  return w;
}

void TransferEntropyWindows::finish(Windows::Result& r) {
  WindowResult& w = r.item.result;
  w.outcome = r.outcome, w.latency = r.latency;
  try {
    if (r.error) std::rethrow_exception(r.error);
  } catch (const std::exception& e) {
    w.error = e.what();
  }
  if (!r.value.empty()) {
    w.value = r.value[0].observed(0);
    w.p_value = p_value(w.value, r.value[0].surrogate(0), options_.p_value);
  }
  take_(w);
}

}  // namespace kolmo
