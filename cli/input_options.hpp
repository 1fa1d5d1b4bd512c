#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "kolmo/io/table_options.hpp"

namespace CLI {
class App;
}

namespace kolmo::cli {

/// How FILE is read: `--header`, `--na`, `--decimal`, `--comments` and `--transpose`.
class InputOptions {
 public:
  void add(CLI::App& command);
  /// Throws InvalidArgument for an empty text in `--na`.
  TableOptions table() const;
  /// Those that were given, by name.
  nlohmann::ordered_json used() const;

 private:
  Header header_ = Header::automatic;
  std::string missing_;
  std::int32_t decimal_ = 0;
  Comments comments_ = Comments::above;
  bool transpose_ = false;
};

}  // namespace kolmo::cli
