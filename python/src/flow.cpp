#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "cli/context.hpp"
#include "cli/files.hpp"
#include "kolmo/flow/analysis/mutual_information_matrix.hpp"
#include "kolmo/flow/analysis/network_analysis.hpp"
#include "kolmo/flow/result/graph_export.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/npy.hpp"
#include "python/src/analysis_options.hpp"
#include "python/src/released.hpp"
#include "python/src/wait.hpp"

namespace kolmo::python {
namespace {

using Values = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
template <class T>
using OfRows = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Data in memory as a table.
struct Data {
  Values values;     // time along rows; or trials, time and columns
  std::string name;  // for messages
  std::vector<std::string> names;
  std::vector<bool> made_up;                  // which names are for messages only
  std::map<std::size_t, std::string> faults;  // why columns hold no numbers
  std::vector<std::size_t> no_variables;      // columns that say something of the rows
  // What is known of rows; empty where nothing is.
  OfRows<std::int32_t> trials;
  OfRows<std::int64_t> dates;  // microseconds since 1970; or
  OfRows<double> times;        // numbers
  std::string time_name, time_unit;
  OfRows<std::uint8_t> where;
};

template <class T, class U>
void take_rows_of(const OfRows<T>& from, std::vector<U>& to, const char* what, const std::string& name,
                  std::size_t rows) {
  if (!from.size()) return;
  require(from.size() == rows, name + ": " + what + ": " + std::to_string(from.size()) + " values for " +
                                   std::to_string(rows) + " rows");
  to.assign(from.data(), from.data() + from.size());
}

Table table_of(const Data& data) {
  const auto& [values, name, names, made_up, faults, no_variables, trials, dates, times, time_name, time_unit,
               where] = data;
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < values.ndim(); ++d) shape.push_back(std::int64_t(values.shape(d)));
  Array array(DType::f64, shape);
  if (values.size()) std::memcpy(array.tensor.data, values.data(), values.nbytes());
  Table table = to_table(array, name, {}, names);
  table.made_up = made_up, table.no_variables = no_variables;
  for (const auto& [column, what] : faults) table.faults.at(column) = {{Fault::every_row, what}};
  require(!trials.size() || table.trial.empty(),
          name + ": trials: the first of three axes already counts trials");
  take_rows_of(trials, table.trial, "trials", name, table.rows());
  take_rows_of(where, table.where, "where", name, table.rows());
  if (dates.size() || times.size()) {
    table.times = RowTimes{time_name, {}, {}, time_unit};
    take_rows_of(dates, table.times->dates, "time", name, table.rows());
    take_rows_of(times, table.times->numbers, "time", name, table.rows());
  }
  return table;
}

nb::list pairs(const std::vector<Warning>& warnings) {
  nb::list all;
  for (const Warning& w : warnings) all.append(nb::make_tuple(w.name, w.text));
  return all;
}

nb::dict dict_of(const FinishedWork::Records& records) {
  nb::dict all;
  for (const auto& [id, text] : records)
    all[nb::make_tuple(id.first, id.second)] = nb::bytes(text.data(), text.size());
  return all;
}

FinishedWork::Records records_of(const nb::dict& finished) {
  FinishedWork::Records all;
  for (const auto& [id, text] : finished) {
    const auto bytes = nb::cast<nb::bytes>(text);
    all.emplace(nb::cast<FinishedWork::Id>(id), std::string(bytes.c_str(), bytes.size()));
  }
  return all;
}

/// Streams that no call uses at the moment. Making one takes longer than a small estimate.
class IdleStreams {
 public:
  Streams take(const std::string& device, int threads) {
    {
      const std::scoped_lock lock(mutex_);
      auto& idle = idle_[{device, threads}];
      if (!idle.empty()) {
        Streams streams = std::move(idle.back());
        idle.pop_back();
        return streams;
      }
    }
    return cli::DeviceOptions{device, threads, {}}.open_all_unmonitored();
  }
  void put(const std::string& device, int threads, Streams streams) {
    const std::scoped_lock lock(mutex_);
    idle_[{device, threads}].push_back(std::move(streams));
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::vector<Streams>> idle_;
};
IdleStreams& idle_streams() {
  static auto* const streams = new IdleStreams;  // never destroyed: devices may be gone at exit
  return *streams;
}

/// Streams for one call. After an error they are not used again, nor if a device was lost.
template <class F>
void on_stream(const AnalysisRequest& request, F work) {
  Streams streams = idle_streams().take(request.device, int(request.threads));
  work(streams);
  if (streams.losses().empty()) idle_streams().put(request.device, int(request.threads), std::move(streams));
}

/// Runs work without the GIL. What takes longer than a few milliseconds runs in a thread of its own, so that it can be
/// interrupted and tells how far it is.
void run(bool short_work, const std::function<void(Progress::Listener)>& work, nb::handle progress) {
  if (short_work) {
    const Released released;
    return work({});
  }
  wait_for(
      [&](Advance& advance) {
        work([&](double done, double total) { advance.done = done, advance.total = total; });
      },
      progress);
}

/// Refuses files that cannot be written before anything is computed.
void check_files(const std::map<std::string, std::string>& files) {
  cli::forget_files();
  for (const auto& [kind, path] : files) cli::declare_output(kind, path);
  cli::forget_files();
}

EstimateResult analyse(const std::string& name, const nb::dict& options, const Data& data,
                       nb::object progress) {
  const AnalysisInfo& analysis = find_analysis(name);
  const Request request(analysis, options);
  if (nb::dict(options).contains("local")) check_files({{"local", nb::cast<std::string>(options["local"])}});
  Session session(table_of(data));
  constexpr std::int64_t few = 20000;  // rows times estimates
  const bool short_work =
      std::int64_t(session.table.rows()) * (1 + request.settled->estimator.surrogates) <= few;
  EstimateResult result;
  run(
      short_work,
      [&](Progress::Listener listener) {
        session.progress = std::move(listener);
        on_stream(*request.settled, [&](const Streams& streams) {
          result = analysis.run(request.values.get(), session, streams);
        });
      },
      progress);
  if (!result.local_path.empty()) write_file(result.local_path, result.local);
  return result;
}

/// The mutual information of all pairs of columns: the document as JSON text, warnings and notes.
nb::tuple mutual_information_matrix(const nb::dict& options, const Data& data, nb::object progress) {
  const Request request(find_analysis("mi"), options);
  const auto& settled = *static_cast<const MutualInformationRequest*>(request.values.get());
  Session session(table_of(data));
  MutualInformationMatrix matrix;
  run(
      false,
      [&](Progress::Listener listener) {
        session.progress = std::move(listener);
        on_stream(settled, [&](const Streams& streams) {
          matrix = mutual_information_matrix(settled, session, streams);
        });
      },
      progress);
  const std::string document =
      matrix_json(matrix).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return nb::make_tuple(document, pairs(matrix.warnings), matrix.notes);
}

/// The data and options of a network, which may be computed in parts.
struct NetworkCall {
  NetworkCall(const nb::dict& options, const Data& data)
      : request(find_analysis("network"), options), session(table_of(data)) {}

  NetworkAnalysis analysis() { return {*static_cast<const NetworkRequest*>(request.values.get()), session}; }

  Request request;
  Session session;
};

std::optional<Checkpoint> open_checkpoint(const std::string& path, const NetworkAnalysis& analysis) {
  std::optional<Checkpoint> checkpoint;
  try {
    if (!path.empty()) checkpoint.emplace(path, analysis.key());
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("checkpoint: " + std::string(e.what()), e.where());
  }
  return checkpoint;
}

/// The files of a network, by kind: "document", "report", "table", "graph". `text` is the document.
void write(const std::map<std::string, std::string>& files, const NetworkDocument& d, const std::string& text,
           const NetworkAnalysis& analysis) {
  for (const auto& [kind, path] : files) {
    if (kind == "document") write_file(path, text);
    if (kind == "report") write_file(path, html_report(d, analysis.shown()));
    if (kind == "table") write_file(path, link_table_csv(d));
    if (kind == "graph")
      write_file(path, path.ends_with(".dot") ? dot(d, GraphLinks::significant)
                                              : graphml(d, GraphLinks::significant));
  }
}

nb::tuple network(const nb::dict& options, const Data& data, nb::object progress,
                  const std::string& checkpoint_path, const nb::dict& finished,
                  const std::map<std::string, std::string>& files, const std::string& command) {
  check_files(files);
  NetworkCall call(options, data);
  FinishedWork::Records given = records_of(finished), records;
  std::string document;
  std::vector<Warning> warnings;
  run(
      false,
      [&](Progress::Listener listener) {
        call.session.progress = std::move(listener);
        NetworkAnalysis analysis = call.analysis();
        std::optional<Checkpoint> checkpoint = open_checkpoint(checkpoint_path, analysis);
        if (checkpoint && !checkpoint->finished().empty())
          call.session.note("going on from " + checkpoint_path);
        KeptWork kept(std::move(given), checkpoint ? &*checkpoint : nullptr);
        on_stream(analysis.request(), [&](const Streams& streams) {
          const Network found = analysis.infer(streams, &kept);
          const NetworkDocument d = analysis.document(found, command, streams, "");
          if (checkpoint && !checkpoint->failure().empty())
            call.session.note(checkpoint->failure() + "; finished work was not kept");
          document = network_text(d, streams.threads());
          write(files, d, document, analysis);
          warnings = d.warnings;
        });
        if (checkpoint) checkpoint->remove();
        const auto of_data = std::ptrdiff_t(call.session.warnings.size());
        call.session.warn({warnings.begin() + of_data, warnings.end()}, analysis.request());
        records = kept.all();
      },
      progress);
  return nb::make_tuple(document, pairs(warnings), call.session.notes, dict_of(records));
}

nb::dict network_records(const nb::dict& options, const Data& data, const std::vector<std::size_t>& targets,
                         nb::object progress, const std::string& checkpoint_path, const nb::dict& finished) {
  NetworkCall call(options, data);
  for (const std::size_t target : targets)
    require(target < call.session.table.columns.size(),
            data.name + ": there is no column " + std::to_string(target));
  FinishedWork::Records given = records_of(finished), records;
  run(
      false,
      [&](Progress::Listener listener) {
        call.session.progress = std::move(listener);
        NetworkAnalysis analysis = call.analysis();
        std::optional<Checkpoint> checkpoint = open_checkpoint(checkpoint_path, analysis);
        KeptWork kept(std::move(given), checkpoint ? &*checkpoint : nullptr);
        if (!targets.empty())
          on_stream(analysis.request(),
                    [&](const Streams& streams) { analysis.step(targets, streams, kept); });
        records = kept.all();
      },
      progress);
  return dict_of(records);
}

nb::tuple network_plan(const nb::dict& options, const Data& data, const std::string& checkpoint_path,
                       const nb::dict& finished) {
  NetworkCall call(options, data);
  FinishedWork::Records given = records_of(finished), records;
  std::vector<std::size_t> targets;
  run(
      false,
      [&](const Progress::Listener&) {
        NetworkAnalysis analysis = call.analysis();
        std::optional<Checkpoint> checkpoint = open_checkpoint(checkpoint_path, analysis);
        const KeptWork kept(std::move(given), checkpoint ? &*checkpoint : nullptr);
        records = kept.all(), targets = analysis.unfinished(records);
      },
      nb::none());
  return nb::make_tuple(targets, dict_of(records));
}

void add_estimate_result(nb::module_& module) {
  using R = EstimateResult;
  const auto text = [](const R& r) {
    return estimate_json(r).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  };
  nb::class_<R>(module, "EstimateResult", "The result of an estimate; values are in its units.")
      .def_prop_ro("value", [](const R& r) { return r.value * r.factor; })
      .def_ro("measure", &R::measure)
      .def_ro("units", &R::units)
      .def_ro("p_value", &R::p_value)
      .def_ro("p_at_floor", &R::p_at_floor)
      .def_ro("test", &R::test)
      .def_ro("surrogates", &R::surrogate_count)
      .def_prop_ro("surrogate_mean", [](const R& r) { return r.surrogates.mean * r.factor; })
      .def_prop_ro("surrogate_std", [](const R& r) { return r.surrogates.deviation * r.factor; })
      .def_ro("samples", &R::samples)
      .def_ro("notes", &R::notes)
      .def_prop_ro("warnings", [](const R& r) { return pairs(r.warnings); })
      .def("document", text, "The JSON object that the command prints, as text.");
}

}  // namespace

void add_flow(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Data>(module, "Data", "Series in memory, with their names, faults and what is known of rows.")
      .def(nb::init<Values, std::string, std::vector<std::string>, std::vector<bool>,
                    std::map<std::size_t, std::string>, std::vector<std::size_t>, OfRows<std::int32_t>,
                    OfRows<std::int64_t>, OfRows<double>, std::string, std::string, OfRows<std::uint8_t>>(),
           "values"_a, "name"_a, "names"_a, "made_up"_a, "faults"_a, "no_variables"_a, "trials"_a, "dates"_a,
           "times"_a, "time_name"_a, "time_unit"_a, "where"_a);
  add_estimate_result(module);
  module.def("analyse", analyse, "name"_a, "options"_a, "data"_a, "progress"_a.none(),
             nb::call_guard<CurrentDevice>(), "Runs an analysis of a table in memory, with options by name.");
  module.def("mutual_information_matrix",
             nb::overload_cast<const nb::dict&, const Data&, nb::object>(&mutual_information_matrix),
             "options"_a, "data"_a, "progress"_a.none(), nb::call_guard<CurrentDevice>(),
             "The mutual information of all pairs of columns, by options of mi with all_pairs. Returns the "
             "document as JSON text, warnings as pairs of name and text, and notes.");
  module.def("network", network, "options"_a, "data"_a, "progress"_a.none(), "checkpoint"_a, "finished"_a,
             "files"_a, "command"_a, nb::call_guard<CurrentDevice>(),
             "Infers a network and writes its files. Returns the document as JSON text, warnings as pairs of "
             "name and "
             "text,\nnotes and the records of finished work.");
  module.def("network_plan", network_plan, "options"_a, "data"_a, "checkpoint"_a = "",
             "finished"_a = nb::dict(), nb::call_guard<CurrentDevice>(),
             "The columns of targets to compute next, if the records in `finished` and in the checkpoint are "
             "there, and these "
             "records. All go into the checkpoint.");
  module.def(
      "network_records", network_records, "options"_a, "data"_a, "targets"_a,
      "progress"_a.none() = nb::none(), "checkpoint"_a = "", "finished"_a = nb::dict(),
      nb::call_guard<CurrentDevice>(),
      "The records of the targets in these columns after a further step, which `finished` of a later call "
      "takes; what it holds is not computed\nagain. All go into the checkpoint.");
  module.def(
      "describe_analysis", [](const std::string& name) { return describe(find_analysis(name)).dump(); },
      "name"_a, "What an analysis says of itself, as JSON text.");
  module.def("analyses", [] {
    std::vector<std::string> names;
    for (const AnalysisInfo& a : all_analyses()) names.emplace_back(a.name);
    return names;
  });
}

}  // namespace kolmo::python
