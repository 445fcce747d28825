#include <Poco/Exception.h>
#include <Poco/URI.h>

#include <algorithm>

#include "orchestrator/base/text.h"
#include "orchestrator/httpd/guard.h"

namespace forge::httpd {
namespace {

/// Nothing when an escape is malformed or the text is none that may go into logs and lookups.
std::optional<std::string> decode(const std::string& part) {
  std::string decoded;
  try {
    Poco::URI::decode(part, decoded);
  } catch (const Poco::Exception&) {
    return {};  // the refusal below says what is wrong
  }
  const bool has_control =
      std::any_of(decoded.begin(), decoded.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (has_control || !is_utf8(decoded)) return {};
  return decoded;
}

Refusal bad_escape() { return {400, ErrorCode::invalid_argument, "the target holds a bad escape or text that is not UTF-8", {}}; }

}  // namespace

// Dots are left as they are: a segment ".." matches no route, and no path of a request ever names a file.
std::variant<Target, Refusal> parse_target(std::string_view target) {
  const std::size_t mark = target.find('?');
  const std::string_view path = target.substr(0, mark);
  Target parsed;
  for (const std::string& segment : split(path.substr(1), '/')) {
    auto decoded = decode(segment);
    if (!decoded) return bad_escape();
    parsed.segments.push_back(std::move(*decoded));
  }
  if (mark == std::string_view::npos) return parsed;
  std::string query(target.substr(mark + 1));
  std::replace(query.begin(), query.end(), '+', ' ');  // as forms write a space; a real plus is escaped
  for (const std::string& pair : split(query, '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto key = decode(pair.substr(0, equals));
    auto value = decode(equals == std::string::npos ? std::string() : pair.substr(equals + 1));
    if (!key || !value) return bad_escape();
    parsed.query.emplace_back(std::move(*key), std::move(*value));
  }
  return parsed;
}

}  // namespace forge::httpd
