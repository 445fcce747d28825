#include "orchestrator/base/redactor.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "orchestrator/base/text.h"

namespace forge {
namespace {

constexpr std::size_t kShortestSecret = 8;

constexpr bool is_alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// A secret that is known by its beginning.
struct Shape {
  std::string_view prefix;
  std::string_view beside_alnum;  // what may stand in it besides letters and digits
  std::size_t least;              // characters after the prefix; fewer are ordinary text
  bool keep_prefix = false;
};

// GitHub, GitLab, Anthropic, OpenAI, AWS, Google, Slack, npm, E2B, Daytona, Forge, and what stands in HTTP headers.
constexpr std::array kShapes{
    Shape{"ghp_", "._-", 36},
    Shape{"gho_", "._-", 36},
    Shape{"ghu_", "._-", 36},
    Shape{"ghs_", "._-", 36},
    Shape{"ghr_", "._-", 36},
    Shape{"github_pat_", "_", 22},
    Shape{"glpat-", "_-.", 20},
    Shape{"sk-ant-", "_-", 16},
    Shape{"sk-", "_-", 20},
    Shape{"AKIA", "", 16},
    Shape{"ASIA", "", 16},
    Shape{"AIza", "_-", 35},
    Shape{"xoxb-", "-", 20},
    Shape{"xoxp-", "-", 20},
    Shape{"npm_", "", 36},
    Shape{"e2b_", "", 32},
    Shape{"dtn_", "", 32},
    Shape{"forge_", "_-", 40},
    Shape{"Bearer ", "._~+/=-", 16, true},
    Shape{"bearer ", "._~+/=-", 16, true},
};

/// What stands before a credential in a header (RFC 9110 11.1), as far as one is in use with tokens.
bool is_scheme(std::string_view word) {
  const std::string lower = lower_ascii(word);
  return lower == "bearer" || lower == "basic" || lower == "token" || lower == "apikey";
}

std::string replace_all(std::string_view text, std::string_view secret) {
  std::string result;
  while (true) {
    const auto at = text.find(secret);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += Redactor::kMark;
    text.remove_prefix(at + secret.size());
  }
}

std::string redact_shape(std::string_view text, const Shape& shape) {
  std::string result;
  std::size_t done = 0;
  for (auto at = text.find(shape.prefix); at != std::string_view::npos; at = text.find(shape.prefix, at)) {
    std::size_t end = at + shape.prefix.size();
    const std::size_t first = end;
    while (end < text.size() && (is_alnum(text[end]) || shape.beside_alnum.find(text[end]) != std::string_view::npos)) ++end;
    const bool inside_a_word = at > 0 && is_alnum(text[at - 1]);  // "task-..." holds "sk-"
    if (end - first >= shape.least && !inside_a_word) {
      result += text.substr(done, (shape.keep_prefix ? first : at) - done);
      result += Redactor::kMark;
      done = end;
    }
    at = end;
  }
  result += text.substr(done);
  return result;
}

/// From "-----BEGIN ... PRIVATE KEY-----" to its end line, or to the end of the text when that was cut off.
std::string redact_private_keys(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kKind = "PRIVATE KEY-----";
  constexpr std::string_view kEnd = "-----END ";
  std::string result;
  std::size_t done = 0;
  for (auto at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at)) {
    const auto kind = text.find(kKind, at);
    if (kind == std::string_view::npos) break;
    if (kind - at > 40) {  // another kind of block; the longest name is "ENCRYPTED "
      at += kBegin.size();
      continue;
    }
    const auto end = text.find(kEnd, kind);
    const auto closing = end == std::string_view::npos ? end : text.find(kKind, end);
    result += text.substr(done, at - done);
    result += Redactor::kMark;
    done = closing == std::string_view::npos ? text.size() : closing + kKind.size();
    at = done;
  }
  result += text.substr(done);
  return result;
}

/// The password of "scheme://user:password@host".
std::string redact_url_passwords(std::string_view text) {
  std::string result;
  std::size_t done = 0;
  for (auto at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    const auto end = text.find_first_of("/@ \t\r\n\"'<>?#", at + 3);
    if (end == std::string_view::npos || text[end] != '@') continue;
    const auto colon = text.find(':', at + 3);
    if (colon >= end || colon + 1 == end) continue;
    result += text.substr(done, colon + 1 - done);
    result += Redactor::kMark;
    done = end;
  }
  result += text.substr(done);
  return result;
}

}  // namespace

void Redactor::add(std::string secret) {
  // Whoever repeats a header's credential may leave its scheme out.
  if (const auto blank = secret.find(' '); blank != std::string::npos && is_scheme(secret.substr(0, blank))) add(secret.substr(blank + 1));
  if (secret.size() < kShortestSecret) return;
  auto secrets = secrets_.lock();
  if (std::find(secrets->begin(), secrets->end(), secret) != secrets->end()) return;
  // The longest first: a secret may hold another.
  const auto shorter = [](const std::string& a, const std::string& b) { return a.size() > b.size(); };
  secrets->insert(std::upper_bound(secrets->begin(), secrets->end(), secret, shorter), std::move(secret));
}

std::string Redactor::apply(std::string_view text) const {
  std::string result(text);
  {
    auto secrets = secrets_.lock();
    for (const std::string& secret : *secrets)
      if (result.find(secret) != std::string::npos) result = replace_all(result, secret);
  }
  result = redact_private_keys(result);
  result = redact_url_passwords(result);
  for (const Shape& shape : kShapes)
    if (result.find(shape.prefix) != std::string::npos) result = redact_shape(result, shape);
  return result;
}

}  // namespace forge
