#include "cli/files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <set>
#include <tuple>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo::cli {
namespace {

/// Identifies a file: an existing one by its device and inode, one that is still to be made by those of its
/// folder and its name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

Identity identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return {status.st_dev, status.st_ino, ""};
  const auto full = std::filesystem::absolute(link_end(path));
  if (::stat(full.parent_path().c_str(), &status) != 0) return {0, 0, full.string()};
  return {status.st_dev, status.st_ino, full.filename().string()};
}

struct Declared {
  std::string option, path;
  Identity identity;
  bool output;
};

/// The files that this thread declared. A thread runs one command at a time.
std::vector<Declared>& declared() {
  thread_local std::vector<Declared> all;
  return all;
}

void declare(std::string_view option, const std::string& path, bool output) {
  if (path.empty() || !is_regular(path)) return;
  Declared file{std::string(option), path, identity_of(path), output};
  for (const Declared& other : declared())
    if (other.identity == file.identity && (output || other.output)) {
      const Declared& written = output ? file : other;
      const Declared& kept = output ? other : file;
      fail<InvalidArgument>(written.option + ": " + file_label(written.path) + " is the same file as " +
                            kept.option + " " + file_label(kept.path));
    }
  declared().push_back(std::move(file));
}

/// Refuses a name that ends as a file of another format than `type` says, such as FILE.html: what is in a file follows from the
/// option, and never from the name.
void refuse_other_ending(const std::string& option, const std::string& path, const std::string& type) {
  static const std::set<std::string> known = {".csv", ".dot", ".docx", ".gml",     ".graphml", ".gz",
                                              ".h5",  ".htm", ".html", ".jpeg",    ".jpg",     ".json",
                                              ".md",  ".npy", ".npz",  ".parquet", ".pdf",     ".png",
                                              ".svg", ".tsv", ".xls",  ".xlsx",    ".xml"};
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending) c = char(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (ending == ".htm") ending = ".html";
  if (!type.starts_with("FILE.") || !is_regular(path) || !known.contains(ending)) return;
  const std::string endings = type.substr(4) + "|";
  if (endings.find(ending + "|") == std::string::npos)
    fail<InvalidArgument>(option + ": " + file_label(path) + " ends in " + ending +
                          ", and what is written is " + type);
}

/// Writes a result into the folder for temporary files, and says where, or why not.
std::string kept_elsewhere(const std::string& path, const std::string& content) {
  const auto name = std::filesystem::path(path).filename().string();
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  if (error) return "it is lost, as there is no folder for temporary files";
  try {
    return "it is in " + file_label(write_new_file(folder.string(), "kolmo", name, content));
  } catch (const Error& e) {
    return std::string("it is lost: ") + e.what();
  }
}

}  // namespace

bool is_regular(const std::string& path) {
  struct stat status {};
  return path != "-" && (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode));
}

void forget_files() { declared().clear(); }

void declare_input(std::string_view option, const std::string& path) { declare(option, path, false); }

void declare_output(std::string_view option, const std::string& path) {
  if (path.empty() || path == "-") return;
  const std::string named = std::string(option) + ": ";
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (!std::filesystem::is_directory(folder))
    fail<InvalidArgument>(named + file_label(path) + ": there is no folder " + file_label(folder.string()));
  declare(option, path, true);
  if (!is_regular(path) && !std::filesystem::is_directory(path))
    return;  // opening a pipe for writing would wait for its reader
  try {
    const AtomicFile can_be_written(path);
  } catch (const Error& e) {
    fail<InvalidArgument>(named + e.what());
  }
}

CLI::Option* add_input(CLI::App& command, const std::string& name, std::string& path,
                       const std::string& help) {
  return command.add_option(name, path, help)->each([name](const std::string& p) { declare_input(name, p); });
}

CLI::Option* add_output(CLI::App& command, const std::string& name, std::string& path,
                        const std::string& help) {
  CLI::Option* const option = command.add_option(name, path, help);
  const auto declared_path = [name, option](const std::string& given) {
    std::string p = given == "/dev/stdout" || given == "/dev/fd/1" ? "-" : given;
    declare_output(name, p);
    refuse_other_ending(name, p, option->get_type_name());
    return p;
  };
  return option->transform(declared_path, "");
}

void write_results(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string failures;
  for (const auto& [path, content] : files) try {
      write_file(path, content);
    } catch (const Error& e) {
      failures += (failures.empty() ? "" : "; ") + std::string(e.what());
      if (is_regular(path)) failures += "; " + kept_elsewhere(path, content);
    }
  if (!failures.empty()) fail<Error>(failures);
}

}  // namespace kolmo::cli
