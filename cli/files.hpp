#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kolmo::cli {

/// Declares a file that the command will read, or one that it will write, before anything is computed. No two
/// outputs may be one file, and no output may be an input, also under another name or through a link. Throws
/// InvalidArgument that names both, or says why the output cannot be written. "-", pipes and devices are not
/// compared. `option` is how the user named the file ("--out", or "FILE").
void declare_input(std::string_view option, const std::string& path);
void declare_output(std::string_view option, const std::string& path);

/// Forgets the files that this thread declared.
void forget_files();

/// Whether an output is a regular file or will be one, which can be replaced and can have files beside it.
bool is_regular(const std::string& path);

/// Adds an option that names a file. The file is declared when the command line is parsed.
CLI::Option* add_input(CLI::App& command, const std::string& name, std::string& path,
                       const std::string& help);
CLI::Option* add_output(CLI::App& command, const std::string& name, std::string& path,
                        const std::string& help);

/// Writes results, given as pairs of path and content. A result that cannot be written goes into the folder
/// for temporary files instead, so that hours of work are not lost with a folder; the Error at the end says
/// where it is.
void write_results(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace kolmo::cli
