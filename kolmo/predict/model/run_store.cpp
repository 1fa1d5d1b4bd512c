#include "kolmo/predict/model/run_store.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/base/utc.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/sha256.hpp"
#include "kolmo/predict/record/sealed_file.hpp"

namespace kolmo::predict {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t(1) << 30;
constexpr const char *model_name = "model.kolmo", *suffix = ".kolmo";

fs::path content_of(const std::string& folder) { return fs::path(folder) / "v1"; }
fs::path runs_of(const std::string& folder) { return content_of(folder) / "runs"; }

std::vector<fs::path> run_files(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator i(runs_of(folder), error), end; !error && i != end; i.increment(error))
    if (i->path().extension() == suffix) files.push_back(i->path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const PastRun& run) {
  const Blocks& b = run.blocks;
  std::vector<double> loss = b.loss;  // NaN where it is not known
  for (const std::size_t gap : b.gaps) loss[gap] = unknown;
  SealedFile file;
  file.header = {{"kind", "run"}, {"name", run.name}, {"length", b.length}, {"end", b.end}};
  file.doubles = {loss, b.gradient_norm, b.rate, b.slope, b.sum, b.averaged};
  return file.text();
}
PastRun run_from(const std::string& text, const std::string& label) {
  SealedFile file = SealedFile::parse(text, "run", label);
  PastRun run;
  try {
    run.name = file.header.at("name").get<std::string>();
    run.blocks.length = file.header.at("length").get<std::int64_t>(),
    run.blocks.end = file.header.at("end").get<std::int64_t>();
  } catch (const nlohmann::json::exception& e) {
    fail<InvalidArgument>(label + ": is damaged: " + e.what());
  }
  Blocks& b = run.blocks;
  std::vector<double>* const parts[] = {&b.loss, &b.gradient_norm, &b.rate, &b.slope, &b.sum, &b.averaged};
  require(file.doubles.size() == std::size(parts) && b.length > 0,
          label + ": is damaged: arrays of a run are missing");
  const std::size_t blocks = file.doubles[0].size();
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    require(file.doubles[i].size() == blocks, label + ": is damaged: its arrays differ in length");
    *parts[i] = std::move(file.doubles[i]);
  }
  const std::vector<double> loss = std::exchange(b.loss, {});
  require(loss.empty() || !std::isnan(loss[0]), label + ": is damaged: its first loss is not known");
  for (const double value : loss) b.add_loss(value);
  return run;
}

std::string text_of(const WorldModel& model, const std::string& source, const TrainingOptions& o) {
  SealedFile file;
  file.header = {{"kind", "model"},          {"source", source},
                 {"hidden", model.hidden()}, {"members", model.members().size()},
                 {"epochs", o.epochs},       {"seed", o.seed}};
  file.floats = model.members();
  for (const auto& errors : model.residuals()) {
    std::vector<float> flat;
    for (const Residual& r : errors) flat.push_back(r.error), flat.push_back(r.unit);
    file.floats.push_back(std::move(flat));
  }
  const auto& curves = model.likeness().curves();
  file.header["curves"] = curves.size();
  file.floats.insert(file.floats.end(), curves.begin(), curves.end());
  file.floats.push_back(model.likeness().limits());
  return file.text();
}
std::shared_ptr<const WorldModel> model_from(const std::string& text, const std::string& label,
                                             std::string& source) {
  SealedFile file = SealedFile::parse(text, "model", label);
  try {
    source = file.header.at("source").get<std::string>();
    const auto members = file.header.at("members").get<std::size_t>();
    require(file.header.contains("curves"), label + ": is of an earlier version; train the store again");
    const auto curves = file.header.at("curves").get<std::size_t>();
    require(members <= file.floats.size() && curves <= file.floats.size() &&
                members + ahead + curves + 1 == file.floats.size(),
            label + ": is damaged: arrays of a model are missing");
    const auto first_curve = file.floats.end() - 1 - std::ptrdiff_t(curves);
    Likeness likeness({first_curve, file.floats.end() - 1}, file.floats.back());
    Residuals residuals(ahead);
    for (std::size_t h = 0; h < ahead; ++h)
      for (std::size_t i = 0; i + 1 < file.floats[members + h].size(); i += 2)
        residuals[h].push_back({file.floats[members + h][i], file.floats[members + h][i + 1]});
    file.floats.resize(members);
    return std::make_shared<const WorldModel>(file.header.at("hidden").get<int>(), std::move(file.floats),
                                              std::move(residuals), std::move(likeness));
  } catch (const nlohmann::json::exception& e) {
    fail<InvalidArgument>(label + ": is damaged: " + e.what());
  }
}

/// Returns the reason why nothing can be learned from a run; it is empty if something can.
std::string why_left_out(const PastRun& run) {
  std::size_t longest = 0;
  for (const auto& [first, end] : stretches(run.blocks)) longest = std::max(longest, end - first);
  if (longest < least_window)
    return run.name + ": has " + std::to_string(longest) + " blocks of " + std::to_string(run.blocks.length) +
           " steps" + (run.blocks.gaps.empty() ? "" : " in a row that have losses") + ", and " +
           std::to_string(least_window) + " are needed";
  const auto usable = [](double l) { return l > 0 && std::isfinite(l); };
  if (!std::all_of(run.blocks.loss.begin(), run.blocks.loss.end(), usable))
    return run.name + ": has losses that are not positive and finite";
  return "";
}

/// Removes the runs that were added first until `most` are left. Another process may do so at the same time.
void drop_oldest(const std::string& folder, std::size_t most) {
  std::vector<std::pair<fs::file_time_type, fs::path>> by_age;
  std::error_code error;
  for (const fs::path& file : run_files(folder)) {
    const auto time = fs::last_write_time(file, error);
    if (!error) by_age.emplace_back(time, file);
  }
  std::sort(by_age.begin(), by_age.end());
  for (std::size_t i = 0; i + most < by_age.size(); ++i) fs::remove(by_age[i].second, error);
}

}  // namespace

bool teaches(const PastRun& run) { return why_left_out(run).empty(); }

RunStore RunStore::open(const std::string& folder) {
  std::error_code error;
  require(fs::is_directory(folder, error),
          file_label(folder) + ": is no folder of a run store; kolmo forecast --train-store RUNS --store " +
              folder + " makes it");
  RunStore store;
  const auto read = [&](const fs::path& file, const auto& use) {
    try {
      use(read_regular(file.string(), most_bytes, Links::refused), file_label(file.string()));
    } catch (const Error& e) {
      store.warnings_.emplace_back(e.what());
    }
  };
  for (const fs::path& file : run_files(folder))
    read(file, [&](const std::string& text, const std::string& label) {
      store.runs_.push_back(run_from(text, label));
    });
  // The ensemble depends on the order of runs, which therefore is one of their own, whatever their files are called.
  std::sort(store.runs_.begin(), store.runs_.end(), [](const PastRun& a, const PastRun& b) {
    const Blocks &x = a.blocks, &y = b.blocks;
    const std::size_t of_x = x.loss.size(), of_y = y.loss.size();
    return std::tie(of_x, x.loss, x.rate) < std::tie(of_y, y.loss, y.rate);
  });
  const fs::path model = content_of(folder) / model_name;
  if (fs::exists(fs::symlink_status(model, error)))
    read(model, [&](const std::string& text, const std::string& label) {
      store.model_ = model_from(text, label, store.source_);
    });
  else
    store.warnings_.push_back(
        file_label(folder) +
        ": has no trained model of this version; kolmo forecast --train-store RUNS --store " + folder +
        " makes one");
  if (!store.model_) store.source_.clear();
  return store;
}

TrainedStore train_store(const std::vector<PastRun>& runs, const std::string& folder,
                         const TrainingOptions& options) {
  options.check();
  std::error_code error;
  fs::create_directories(runs_of(folder), error);
  if (error) fail<InvalidArgument>(file_label(folder) + ": cannot be made: " + error.message());
  TrainedStore done;
  for (const PastRun& run : runs) {
    if (const std::string why = why_left_out(run); !why.empty()) {
      done.left_out.push_back(why);
      continue;
    }
    // A run that has another name is the same run: the file is called by the blocks alone.
    const std::string blocks = sha256(text_of({"", run.blocks}));
    write_file((runs_of(folder) / (blocks + suffix)).string(), text_of(run), Existing::replaced);
  }
  drop_oldest(folder, RunStore::most_runs);

  const RunStore store = RunStore::open(folder);
  std::vector<const Blocks*> blocks;
  for (const PastRun& run : store.runs()) {
    const std::string why = why_left_out(run);
    why.empty() ? blocks.push_back(&run.blocks) : done.left_out.push_back(why);
  }
  for (const std::string& w : store.warnings())
    if (w.find(model_name) == w.npos && w.find("has no trained model") == w.npos) done.left_out.push_back(w);
  require(!blocks.empty(), file_label(folder) + ": no run can be learned from" +
                               (done.left_out.empty() ? std::string() : "; " + done.left_out.front()));
  done.runs = blocks.size();
  done.model = std::make_shared<const WorldModel>(WorldModel::train(blocks, options));
  const std::string source = std::to_string(blocks.size()) + " runs, " + utc_now().substr(0, 10);
  write_file((content_of(folder) / model_name).string(), text_of(*done.model, source, options),
             Existing::replaced);
  return done;
}

}  // namespace kolmo::predict
