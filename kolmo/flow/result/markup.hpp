#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kolmo::markup {

/// Escapes text or an attribute value for HTML and XML: & < > " ' become entities; control characters that
/// XML 1.0 forbids become U+FFFD. `text` must be valid UTF-8 (`checked` makes it so).
std::string escape(std::string_view text);

/// JSON that may stand inside <script>: '<', '>', '&', U+2028 and U+2029 are escaped.
std::string script_json(const nlohmann::json& value);

/// A number formatted for reading: `digits` significant digits, trailing zeros dropped, U+2212 as minus, an
/// en dash for NaN.
std::string number(double value, int digits = 3);

/// A number formatted for reading, with a fixed number of decimals.
std::string fixed(double value, int decimals);

/// The shortest decimal text that reads back as the same double; "NaN", "INF", "-INF" as in XML Schema.
std::string exact(double value);

/// At most `length` characters (code points) of UTF-8 text; a longer text is cut and ends in an ellipsis.
std::string shorten(std::string_view text, std::size_t length);
std::size_t code_points(std::string_view text);

/// Replaces every {{key}} of `text` in one pass, so inserted text is not expanded again. Throws
/// InvalidArgument if a key has no value.
std::string fill(std::string_view text, const std::map<std::string, std::string, std::less<>>& values);

}  // namespace kolmo::markup
