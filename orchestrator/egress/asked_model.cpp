#include "orchestrator/egress/asked_model.h"

#include <nlohmann/json.hpp>
#include <optional>

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
    const std::string key = text(begin, at_);
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

std::string with_model(std::string_view body, const AskedModel& asked, std::string_view model) {
  std::string replaced(body.substr(0, asked.begin));
  replaced += dump_json(nlohmann::json(model));
  return replaced.append(body.substr(asked.end));
}

}  // namespace forge::egress
