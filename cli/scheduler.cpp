#include "cli/scheduler.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/interrupt.hpp"
#include "kolmo/base/error.hpp"
#include "kolmo/flow/request/options_json.hpp"
#include "kolmo/version.hpp"

extern char** environ;

namespace kolmo::cli {
namespace {

/// Nothing is imported from the current folder, where the data may be: Python names it '' in its path. Option -P does the same
/// from Python 3.11 on.
constexpr const char* start =
    "import sys; sys.path[:] = [p for p in sys.path if p]; from kolmo.distributed import main; main()";

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

/// Writes the work to a temporary file: a line of JSON, then the values (f64, by row), then of each row, where the line of JSON
/// says so, its trial (i32), its time in steps (f64) and whether it counts (u8).
File written(const ClusterWork& work) {
  File file(std::tmpfile());
  if (!file) fail<Error>("--scheduler: cannot make a temporary file");
  const Table& t = work.table;
  nlohmann::ordered_json options = options_json(work.request);
  options["device"] = work.request.device, options["threads"] = work.request.threads;
  auto records = nlohmann::json::array();
  for (const auto& [id, bytes] : work.finished) records.push_back({id.first, id.second, hex_of(bytes)});
  const nlohmann::json header = {
      {"version", version()},        {"options", options},
      {"targets", work.targets},     {"rows", t.rows()},
      {"columns", t.columns.size()}, {"names", t.named ? t.names : std::vector<std::string>()},
      {"trials", !t.trial.empty()},  {"name", t.file},
      {"times", !t.steps.empty()},   {"where", !t.where.empty()},
      {"finished", records}};
  const std::string line = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  bool good = std::fwrite(line.data(), 1, line.size(), file.get()) == line.size();
  std::vector<double> row(t.columns.size());
  for (std::size_t i = 0; i < t.rows(); ++i) {
    for (std::size_t c = 0; c < row.size(); ++c) row[c] = t.columns[c][i];
    good = good && std::fwrite(row.data(), sizeof(double), row.size(), file.get()) == row.size();
  }
  const auto write = [&](const auto& all) {  // an empty vector may have no address
    good = good &&
           (all.empty() || std::fwrite(all.data(), sizeof(all[0]), all.size(), file.get()) == all.size());
  };
  write(t.trial);
  write(std::vector<double>(t.steps.begin(), t.steps.end()));
  write(std::vector<unsigned char>(t.where.begin(), t.where.end()));
  if (!good || std::fflush(file.get()) != 0) fail<Error>("--scheduler: cannot write a temporary file");
  std::rewind(file.get());
  return file;
}

/// A program that reads a file and whose output is read here. It ends with its reader, and by the signal that ends it.
struct Program {
  pid_t id = 0;
  File output;

  Program(const std::vector<std::string>& words, std::FILE* input) {
    int ends[2];
    if (::pipe(ends) != 0) fail<Error>("--scheduler: cannot make a pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ::fileno(input), 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    for (const int end : ends) posix_spawn_file_actions_addclose(&actions, end);
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const int status = ::posix_spawnp(&id, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output.reset(::fdopen(ends[0], "r"));
    if (status)
      fail<Error>("--scheduler: cannot run " + words[0] + " (" + std::strerror(status) +
                  "); KOLMO_PYTHON names another Python");
    pass_interrupts_on(id);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { wait(); }

  /// Waits for the end of the program and returns its status as waitpid() gives it.
  int wait() {
    int status = 0;
    output.reset();
    if (id > 0) ::waitpid(std::exchange(id, 0), &status, 0);
    pass_interrupts_on(0);
    return status;
  }
};

std::string bytes_of(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, value, 16);
    bytes[i] = char(value);
  }
  return bytes;
}

}  // namespace

void run_on_cluster(const std::string& address, const ClusterWork& work, FinishedWork& finished,
                    Progress& progress) {
  const char* named = std::getenv("KOLMO_PYTHON");
  const std::string python = named && *named ? named : "python3";
  const File input = written(work);
  Program program({python, "-c", start, address}, input.get());
  char* line = nullptr;
  std::size_t room = 0;
  std::string error;
  bool complete = false;
  FinishedWork::Records records;  // records of one target
  std::set<std::int64_t> seen;    // targets
  while (!complete && ::getline(&line, &room, program.output.get()) > 0) {
    const auto said = nlohmann::json::parse(line, nullptr, false);
    if (said.is_discarded()) continue;  // another program printed this line
    if (said.contains("error")) error = said["error"];
    complete = said.contains("end");
    if (!said.contains("records")) continue;
    records.clear();
    for (const auto& r : said["records"]) records[{r[0], r[1]}] = bytes_of(r[2].get<std::string>());
    finished.add(records);
    if (!records.empty() && seen.insert(records.begin()->first.first).second) progress.advance(1);
  }
  std::free(line);
  const int status = program.wait();
  if (!error.empty()) fail<Error>("--scheduler: " + error);
  if (!complete)
    fail<Error>(
        "--scheduler: kolmo.distributed in " + python + " ended with status " +
        std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)) +
        "; it needs the Python package: pip install 'kolmo[dask]' (KOLMO_PYTHON names another Python)");
}

}  // namespace kolmo::cli
