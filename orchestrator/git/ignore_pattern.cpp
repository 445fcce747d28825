#include "orchestrator/git/ignore_pattern.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

using Bytes = std::bitset<256>;

constexpr std::size_t kMaxLineBytes = 1024;
constexpr std::string_view kMark = "\xEF\xBB\xBF";

std::size_t number_of(char c) { return static_cast<unsigned char>(c); }

Bytes only(char c) { return Bytes().set(number_of(c)); }

Bytes all_but_slash() { return Bytes().set().reset(number_of('/')); }

struct ByteClass {
  std::string_view name;
  int (*holds)(int);
};

/// Of ASCII; nothing for a name that there is none of.
std::optional<Bytes> class_named(std::string_view name) {
  static constexpr std::array<ByteClass, 12> kClasses{{{"alnum", std::isalnum},
                                                       {"alpha", std::isalpha},
                                                       {"blank", std::isblank},
                                                       {"cntrl", std::iscntrl},
                                                       {"digit", std::isdigit},
                                                       {"graph", std::isgraph},
                                                       {"lower", std::islower},
                                                       {"print", std::isprint},
                                                       {"punct", std::ispunct},
                                                       {"space", std::isspace},
                                                       {"upper", std::isupper},
                                                       {"xdigit", std::isxdigit}}};
  for (const ByteClass& one : kClasses) {
    if (one.name != name) continue;
    Bytes bytes;
    for (int c = 0; c < 128; ++c) bytes.set(static_cast<std::size_t>(c), one.holds(c) != 0);
    return bytes;
  }
  return {};
}

/// "[...]", read from behind its bracket.
class SetReader {
 public:
  explicit SetReader(std::string_view text) : text_(text) {}

  /// Nothing when the set is broken: then the pattern matches nothing.
  std::optional<Bytes> read() {
    const bool negated = at_ < text_.size() && (text_[at_] == '!' || text_[at_] == '^');
    at_ += negated ? 1 : 0;
    do {  // a bracket that stands first is a member
      if (!member()) return {};
    } while (at_ < text_.size() && text_[at_] != ']');
    if (at_ == text_.size()) return {};
    ++at_;
    return (negated ? ~bytes_ : bytes_) & all_but_slash();
  }
  /// How much was read, the closing bracket with it.
  std::size_t length() const { return at_; }

 private:
  bool member() {
    if (at_ == text_.size()) return false;
    if (text_.substr(at_).starts_with("[:")) {
      const auto end = text_.find(']', at_ + 2);
      if (end == std::string_view::npos) return false;
      if (end > at_ + 2 && text_[end - 1] == ':') return named(text_.substr(at_ + 2, end - at_ - 3), end);
    }
    const bool range = text_[at_] == '-' && last_ && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
    at_ += range ? 1 : 0;
    if (text_[at_] == '\\' && ++at_ == text_.size()) return false;
    const std::size_t to = number_of(text_[at_++]);
    for (std::size_t c = range ? *last_ : to; c <= to; ++c) bytes_.set(c);
    last_ = range ? std::nullopt : std::optional(to);
    return true;
  }

  bool named(std::string_view name, std::size_t end) {
    const auto bytes = class_named(name);
    if (!bytes) return false;
    bytes_ |= *bytes;
    last_.reset();
    at_ = end + 1;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::size_t> last_;  // where a range may begin
  Bytes bytes_;
};

/// Without blanks at the end that no backslash keeps.
std::string_view without_blanks(std::string_view line) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\\')
      ++at;
    else if (line[at] == ' ')
      continue;
    kept = at + 1;
  }
  return line.substr(0, kept);
}

}  // namespace

IgnorePattern::IgnorePattern(std::string_view line) {
  if (line.starts_with('!')) {
    negated_ = true;
    line.remove_prefix(1);
  }
  if (line.ends_with('/')) {
    only_directories_ = true;
    line.remove_suffix(1);
  }
  base_name_ = line.find('/') == std::string_view::npos;
  if (line.starts_with('/')) line.remove_prefix(1);
  compile(line);
}

void IgnorePattern::compile(std::string_view text) {
  const auto add = [&](Kind kind, const Bytes& bytes = {}) { elements_.push_back({kind, bytes}); };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '*') {
      const auto end = std::min(text.find_first_not_of('*', at), text.size());
      const bool alone = end - at > 1 && (at == 0 || text[at - 1] == '/');  // "**" as a whole name
      const std::string_view rest = text.substr(end);
      if (alone && rest.starts_with('/')) add(Kind::maybe);
      add(alone && (rest.empty() || rest.starts_with('/') || rest.starts_with("\\/")) ? Kind::anything : Kind::star);
      at = end;
    } else if (c == '[') {
      SetReader set(text.substr(at + 1));
      const auto bytes = set.read();
      add(Kind::byte, bytes.value_or(Bytes()));
      at = bytes ? at + 1 + set.length() : text.size();
    } else if (c == '\\') {
      add(Kind::byte, at + 1 < text.size() ? only(text[at + 1]) : Bytes());
      at += 2;
    } else {
      add(Kind::byte, c == '?' ? all_but_slash() : only(c));
      ++at;
    }
  }
}

/// Also where one gets from there without a byte.
void IgnorePattern::enter(States& states, std::size_t at) const {
  for (; states[at] == 0; ++at) {
    states[at] = 1;
    if (at == elements_.size() || elements_[at].kind == Kind::byte) return;
    if (elements_[at].kind == Kind::maybe) enter(states, at + 3);
  }
}

bool IgnorePattern::matches_text(std::string_view text) const {
  States now(elements_.size() + 1, 0);
  enter(now, 0);
  for (const char c : text) {
    States next(elements_.size() + 1, 0);
    bool any = false;
    for (std::size_t at = 0; at < elements_.size(); ++at) {
      const Element& element = elements_[at];
      if (now[at] == 0 || element.kind == Kind::maybe) continue;
      const bool taken = element.kind == Kind::byte ? element.bytes.test(number_of(c)) : element.kind == Kind::anything || c != '/';
      if (!taken) continue;
      enter(next, element.kind == Kind::byte ? at + 1 : at);
      any = true;
    }
    if (!any) return false;
    now.swap(next);
  }
  return now.back() != 0;
}

bool IgnorePattern::matches(std::string_view path, bool is_directory) const {
  if (elements_.empty() || (only_directories_ && !is_directory)) return false;
  const auto slash = path.rfind('/');
  const std::string_view text = base_name_ && slash != std::string_view::npos ? path.substr(slash + 1) : path;
  // Most patterns fail at one of their ends.
  const auto fails = [](const Element& element, char c) { return element.kind == Kind::byte && !element.bytes.test(number_of(c)); };
  if (text.empty() || fails(elements_.front(), text.front()) || fails(elements_.back(), text.back())) return false;
  return matches_text(text);
}

std::vector<IgnorePattern> read_ignore_patterns(std::string_view text) {
  std::vector<IgnorePattern> patterns;
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  for (std::string_view line : split_lines(text)) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = without_blanks(line);
    if (line.empty() || line.starts_with('#') || line.size() > kMaxLineBytes) continue;
    patterns.emplace_back(line);
  }
  return patterns;
}

}  // namespace forge::git
