#include "orchestrator/httpd/message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"

namespace forge::httpd {
namespace {

constexpr std::array<std::string_view, 7> kMethods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
static_assert(kMethods.size() == static_cast<std::size_t>(Method::options) + 1);

/// A line break in a value would begin a header, or a body, of somebody else's making.
bool breaks_a_head(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

std::string_view name_of(Method method) { return kMethods.at(static_cast<std::size_t>(method)); }

std::optional<Method> parse_method(std::string_view name) {
  const auto found = std::find(kMethods.begin(), kMethods.end(), name);
  if (found == kMethods.end()) return {};
  return static_cast<Method>(found - kMethods.begin());
}

std::optional<std::string_view> Request::header(std::string_view name) const {
  for (const Header& header : headers)
    if (header.name == name) return header.value;
  return {};
}

std::optional<std::string> Request::query_value(std::string_view key) const {
  std::optional<std::string> found;
  for (const auto& [name, value] : query) {
    if (name != key) continue;
    if (found) throw bad_input(name, "stands twice in the query");
    found = value;
  }
  return found;
}

std::optional<std::int64_t> Request::query_integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  const auto text = query_value(key);
  if (!text) return {};
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < least || value > most)
    throw bad_input(std::string(key), "expected an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

const std::string& Request::param(std::string_view name) const {
  const auto found = params.find(name);
  if (found == params.end()) throw Error(ErrorCode::internal, "the route has no parameter " + std::string(name));
  return found->second;
}

void Response::add(std::string name, std::string value) {
  if (name.empty() || breaks_a_head(name) || breaks_a_head(value))
    throw Error(ErrorCode::internal, "header '" + name + "' would break the head");
  headers.push_back({std::move(name), std::move(value)});
}

Response&& Response::with(std::string name, std::string value) && {
  add(std::move(name), std::move(value));
  return std::move(*this);
}

bool Response::has(std::string_view lower_name) const {
  return std::any_of(headers.begin(), headers.end(), [&](const Header& header) { return lower_ascii(header.name) == lower_name; });
}

Response text_response(int status, std::string content_type, std::string body) {
  Response response{.status = status, .headers = {}, .body = std::move(body), .writer = {}, .events = {}};
  return std::move(response).with("Content-Type", std::move(content_type));
}

Response json_response(int status, std::string json) { return text_response(status, "application/json", std::move(json)); }

Response no_content() {
  Response response;
  response.status = 204;
  return response;
}

Response redirect(std::string location) {
  return text_response(303, "text/plain; charset=utf-8", "").with("Location", std::move(location));
}

Response event_stream(EventStream stream) {
  Response response = text_response(200, "text/event-stream", "");
  response.events = std::move(stream);
  return response;
}

std::string error_json(ErrorCode code, const std::string& message, const std::string& field, const std::string& hint) {
  nlohmann::json error{{"code", name_of(code)}, {"message", message}};
  if (!field.empty()) error["field"] = field;
  if (!hint.empty()) error["hint"] = hint;
  return dump_json({{"error", std::move(error)}});
}

}  // namespace forge::httpd
