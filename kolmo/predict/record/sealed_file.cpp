#include "kolmo/predict/record/sealed_file.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "kolmo/base/error.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/io/sha256.hpp"

namespace kolmo::predict {
namespace {

constexpr std::string_view magic = "kolmo-predict ", version = "1";
static_assert(std::endian::native == std::endian::little);

template <class T>
void append(std::string& text, const std::vector<std::vector<T>>& arrays) {
  for (const auto& a : arrays) text.append(reinterpret_cast<const char*>(a.data()), a.size() * sizeof(T));
}
template <class T>
nlohmann::json sizes_of(const std::vector<std::vector<T>>& arrays) {
  nlohmann::json sizes = nlohmann::json::array();
  for (const auto& a : arrays) sizes.push_back(a.size());
  return sizes;
}
template <class T>
bool take(std::string_view& bytes, const nlohmann::json& sizes, std::vector<std::vector<T>>& arrays) {
  for (const auto& size : sizes) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > bytes.size() / sizeof(T)) return false;
    arrays.emplace_back(size.get<std::size_t>());
    const std::size_t count = arrays.back().size() * sizeof(T);
    if (count) std::memcpy(arrays.back().data(), bytes.data(), count);  // an empty array has no place
    bytes.remove_prefix(count);
  }
  return true;
}

}  // namespace

std::string SealedFile::text() const {
  nlohmann::json all = header;
  all["doubles"] = sizes_of(doubles), all["floats"] = sizes_of(floats);
  std::string body = all.dump() + "\n";
  append(body, doubles), append(body, floats);
  return std::string(magic) + std::string(version) + " " + sha256(body) + "\n" + body;
}

SealedFile SealedFile::parse(const std::string& text, const std::string& kind, const std::string& label) {
  const auto wrong = [&](const std::string& why) { fail<InvalidArgument>(label + ": " + why); };
  std::string_view bytes = text;
  if (!bytes.starts_with(magic)) wrong("is no file of a run store");
  bytes.remove_prefix(magic.size());
  const std::size_t space = bytes.find(' '), line = bytes.find('\n');
  if (space == bytes.npos || line == bytes.npos || space > line)
    wrong("is damaged: its first line is not complete");
  if (bytes.substr(0, space) != version)
    wrong("has format " + std::string(bytes.substr(0, std::min<std::size_t>(space, 20))) +
          ", but this Kolmo reads format " + std::string(version) + "; train the store again");
  const std::string_view sum = bytes.substr(space + 1, line - space - 1);
  bytes.remove_prefix(line + 1);
  if (sha256(bytes) != sum) wrong("is damaged: its checksum does not match; train the store again");
  const std::size_t end = bytes.find('\n');
  if (end == bytes.npos) wrong("is damaged: it has no header");
  SealedFile file;
  file.header = parse_json(bytes.substr(0, end), label);
  bytes.remove_prefix(end + 1);
  if (!file.header.is_object() || file.header.value("kind", "") != kind)
    wrong("is not the " + kind + " that its name says");
  if (!take(bytes, file.header["doubles"], file.doubles) ||
      !take(bytes, file.header["floats"], file.floats) || !bytes.empty())
    wrong("is damaged: its arrays do not have the sizes that its header says");
  return file;
}

}  // namespace kolmo::predict
