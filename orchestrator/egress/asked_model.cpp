#include "orchestrator/egress/asked_model.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"

namespace forge::egress {
namespace {

Error no_object() { return bad_input("model", "the body is not a JSON object with one `model`"); }

/// Walks over the members of the outermost object.
class Members {
 public:
  explicit Members(std::string_view body) : body_(body) {
    skip_blanks();
    expect('{');
  }

  /// The next member's key, decoded; nothing at the end of the object.
  std::optional<std::string> next() {
    skip_blanks();
    if (first_ && peek() == '}') return end();
    if (!first_ && peek() == '}') return end();
    if (!first_) expect(',');
    first_ = false;
    skip_blanks();
    const std::size_t begin = at_;
    skip_string();
    std::string key = text(begin, at_);
    skip_blanks();
    expect(':');
    skip_blanks();
    return key;
  }

  /// Over the value behind the key.
  void skip_value() {
    if (peek() == '"') return skip_string();
    int depth = 0;
    while (at_ < body_.size()) {
      const char c = body_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (depth == 0 && (c == ',' || c == '}')) return;
      if (c == '}' || c == ']') --depth;
      if (depth < 0) throw no_object();
      ++at_;
    }
    throw no_object();
  }

  std::size_t at() const { return at_; }
  /// As it stands between two places.
  std::string_view raw(std::size_t begin, std::size_t end) const { return trim(body_.substr(begin, end - begin)); }
  /// The JSON string between two places, decoded.
  std::string text(std::size_t begin, std::size_t end) const {
    const auto decoded = parse_json(body_.substr(begin, end - begin), "a name in the body");
    if (!decoded.is_string()) throw bad_input("model", "`model` is not a text");
    return decoded.get<std::string>();
  }

 private:
  std::optional<std::string> end() {
    ++at_;
    skip_blanks();
    if (at_ != body_.size()) throw no_object();
    return {};
  }
  char peek() const { return at_ < body_.size() ? body_[at_] : '\0'; }
  void expect(char c) {
    if (peek() != c) throw no_object();
    ++at_;
  }
  void skip_blanks() {
    while (at_ < body_.size() && std::string_view(" \t\r\n").find(body_[at_]) != std::string_view::npos) ++at_;
  }
  void skip_string() {
    expect('"');
    while (true) {
      at_ = body_.find_first_of("\"\\", at_);
      if (at_ == std::string_view::npos) throw no_object();
      if (body_[at_++] == '"') return;
      ++at_;  // what is escaped
    }
  }

  std::string_view body_;
  std::size_t at_ = 0;
  bool first_ = true;
};

constexpr std::int64_t kMostCounted = 1'000'000'000;  // two of these can be multiplied

/// A number of tokens or answers; nothing for what is none, or beyond all models.
std::optional<std::int64_t> asked_count(std::string_view raw) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), count);
  if (error != std::errc() || end != raw.data() + raw.size() || count < 0 || count > kMostCounted) return {};
  return count;
}

std::vector<std::string_view> output_names(DoorPath path) {
  switch (path) {
    case DoorPath::messages: return {"max_tokens"};
    case DoorPath::chat_completions: return {"max_completion_tokens", "max_tokens"};
    case DoorPath::responses: return {"max_output_tokens"};
  }
  return {};
}

}  // namespace

AskedModel find_model(std::string_view body) {
  Members members(body);
  std::optional<AskedModel> found;
  while (const auto key = members.next()) {
    const std::size_t begin = members.at();
    members.skip_value();
    if (lower_ascii(*key) != "model") continue;
    if (found || *key != "model") throw no_object();  // parsers differ in which one counts, and in whether "Model" does
    found = AskedModel{.name = members.text(begin, members.at()), .begin = begin, .end = members.at()};
  }
  if (!found) throw no_object();
  return *found;
}

std::optional<std::int64_t> most_output_tokens(std::string_view body, DoorPath path) {
  const auto names = output_names(path);
  Members members(body);
  std::optional<std::int64_t> most;
  std::int64_t answers = 1;
  while (const auto key = members.next()) {
    const std::size_t begin = members.at();
    members.skip_value();
    const std::string name = lower_ascii(*key);
    const bool counts_answers = path == DoorPath::chat_completions && name == "n";
    if (!counts_answers && std::find(names.begin(), names.end(), name) == names.end()) continue;
    const std::string_view value = members.raw(begin, members.at());
    if (value == "null") continue;
    const auto count = asked_count(value);
    if (!count) return {};
    if (counts_answers) answers = std::max(answers, *count);
    if (!counts_answers) most = std::max(most.value_or(0), *count);
  }
  return most ? std::optional(*most * answers) : std::nullopt;
}

std::string with_model(std::string_view body, const AskedModel& asked, std::string_view model) {
  std::string replaced(body.substr(0, asked.begin));
  replaced += dump_json(nlohmann::json(model));
  return replaced.append(body.substr(asked.end));
}

}  // namespace forge::egress
