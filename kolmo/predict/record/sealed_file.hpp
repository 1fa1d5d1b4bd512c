#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace kolmo::predict {

/// The content of a file of the run store: a header, and arrays of numbers.
///   kolmo-predict 1 SHA256\n  {"kind": ..., "arrays": [...], ...}\n  numbers, little-endian, f64 or f32
/// The checksum is that of all after the first line, so that damage is noticed.
struct SealedFile {
  nlohmann::json header = nlohmann::json::object();
  std::vector<std::vector<double>> doubles;
  std::vector<std::vector<float>> floats;

  std::string text() const;
  /// Throws InvalidArgument, naming `label`, if the text is damaged, of another version, or of another kind.
  static SealedFile parse(const std::string& text, const std::string& kind, const std::string& label);
};

}  // namespace kolmo::predict
