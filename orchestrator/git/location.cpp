#include "orchestrator/git/location.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "orchestrator/base/error.h"
#include "orchestrator/base/loopback.h"
#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

constexpr std::size_t kMaxNameBytes = 4096;
constexpr int kHttpPort = 80;
constexpr int kHttpsPort = 443;
constexpr const char* kForms = "an absolute path, a file:// URL or an http(s):// URL";

Error bad_name(std::string message, std::string hint = kForms) { return bad_input("repository", std::move(message), std::move(hint)); }

Error unsupported_name(const std::string& message, std::string hint) {
  return public_failure(ErrorCode::unsupported, message).in_field("repository").with_hint(std::move(hint));
}

bool starts_like(std::string_view text, std::string_view lower_prefix) {
  return text.size() >= lower_prefix.size() && lower_ascii(text.substr(0, lower_prefix.size())) == lower_prefix;
}

/// "git@host:path" as ssh and git read it: a colon before the first slash.
bool is_scp_form(std::string_view name) {
  const auto colon = name.find(':');
  return colon != std::string_view::npos && colon > 0 && name.find('/') > colon;
}

void refuse_odd_bytes(std::string_view name) {
  if (name.empty()) throw bad_name("no repository was named");
  if (name.size() > kMaxNameBytes) throw bad_name("the name is longer than 4096 bytes");
  const bool control = std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (control) throw bad_name("the name holds a control character");
}

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

/// "%20" and the like of a file:// URL.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 1 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) throw bad_name("the URL has a '%' without two hex digits behind it");
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Location local(std::string path) {
  if (!path.starts_with('/'))
    throw bad_name("'" + path + "' is a relative path, which the server would read from its own directory", "the absolute path");
  refuse_odd_bytes(path);
  Location location;
  location.path = without_trailing_slashes(std::move(path));
  return location;
}

Location file_url(std::string_view rest) {
  if (starts_like(rest, "localhost/")) rest.remove_prefix(std::string_view("localhost").size());
  if (!rest.starts_with('/')) throw bad_name("a file:// URL names a path of this machine", "file:///absolute/path");
  return local(percent_decoded(rest));
}

int port_of(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535)
    throw bad_name("the URL's port is not a number from 1 to 65535");
  return port;
}

/// Fills host and port from "host", "host:port" or "[address]:port".
void read_authority(std::string_view authority, Location& location) {
  std::string_view after;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) throw bad_name("the URL's address lacks its ']'");
    location.host = lower_ascii(authority.substr(1, close - 1));
    after = authority.substr(close + 1);
  } else {
    const auto colon = std::min(authority.find(':'), authority.size());
    location.host = lower_ascii(authority.substr(0, colon));
    after = authority.substr(colon);
  }
  if (location.host.empty()) throw bad_name("the URL names no host");
  const int own_port = location.tls ? kHttpsPort : kHttpPort;
  location.port = own_port;
  if (after.starts_with(':')) {
    location.port = port_of(after.substr(1));
  } else if (!after.empty()) {
    throw bad_name("the URL's host is not understood");
  }
  const bool v6 = location.host.find(':') != std::string::npos;
  location.authority = v6 ? "[" + location.host + "]" : location.host;
  if (location.port != own_port) location.authority += ":" + std::to_string(location.port);
}

Location http_url(std::string_view scheme, std::string_view rest) {
  const auto slash = std::min(rest.find('/'), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  const std::string path = without_trailing_slashes(std::string(rest.substr(slash)));
  if (authority.find('@') != std::string_view::npos)
    throw bad_name("the URL carries credentials, which would end in logs and in the database",
                   "leave them out, and configure git.credentials.\"HOST\" with token_env or token_file");
  if (path.empty() || path == "/") throw bad_name("the URL names a host but no repository");
  if (path.find_first_of(" ?#\"<>\\^`{|}") != std::string::npos)
    throw bad_name("the URL's path has a character that must be written as %XX");
  Location location;
  location.kind = Location::Kind::http;
  location.tls = scheme == "https";
  read_authority(authority, location);
  location.url = std::string(scheme) + "://" + location.authority + path;
  return location;
}

/// git's own way to name a program that does the transport: "ext::sh -c id".
std::optional<std::string> helper_of(const std::string& repository) {
  const auto mark = repository.find("::");
  if (mark == std::string::npos || mark == 0) return {};
  const bool word = std::all_of(repository.begin(), repository.begin() + static_cast<std::ptrdiff_t>(mark),
                                [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '+'; });
  return word ? std::optional(repository.substr(0, mark)) : std::nullopt;
}

}  // namespace

Location parse_location(const std::string& repository) {
  refuse_odd_bytes(repository);
  if (const auto helper = helper_of(repository)) throw unsupported_name("'" + *helper + "::' is not supported", kForms);
  const auto mark = repository.find("://");
  if (mark == std::string::npos || repository.starts_with('/')) {
    if (!repository.starts_with('/') && is_scp_form(repository))
      throw unsupported_name("ssh is not supported", "the repository's https:// URL, with a token in git.credentials");
    return local(repository);
  }
  const std::string scheme = lower_ascii(std::string_view(repository).substr(0, mark));
  const std::string_view rest = std::string_view(repository).substr(mark + 3);
  if (scheme == "file") return file_url(rest);
  if (scheme == "http" || scheme == "https") return http_url(scheme, rest);
  if (scheme == "ssh" || scheme == "git+ssh" || scheme == "ssh+git")
    throw unsupported_name("ssh is not supported", "the repository's https:// URL, with a token in git.credentials");
  throw unsupported_name("'" + scheme + "://' is not supported", kForms);
}

std::optional<Credential> credential_for(const Location& location, const std::vector<Credential>& credentials) {
  const std::string with_port = location.authority.ends_with(":" + std::to_string(location.port))
                                    ? location.authority
                                    : location.authority + ":" + std::to_string(location.port);
  for (const Credential& one : credentials) {
    const std::string host = lower_ascii(one.host);
    if (host == with_port) return one;
    if (host == location.authority && (location.tls || is_loopback_host(location.host))) return one;
  }
  return {};
}

std::string without_credentials(const std::string& url) {
  const auto mark = url.find("://");
  if (mark == std::string::npos) return url;
  const auto begin = mark + 3;
  auto end = std::min(url.find('/', begin), url.size());
  // "user:pa/ss@host": a password with a bare slash. What looks like a port there is none.
  const auto colon = url.find(':', begin);
  if (colon < end && url.substr(colon + 1, end - colon - 1).find_first_not_of("0123456789") != std::string::npos) end = url.size();
  const auto at = url.substr(begin, end - begin).rfind('@');
  return at == std::string::npos ? url : url.substr(0, begin) + url.substr(begin + at + 1);
}

void check_repository_name(const std::string& repository) { parse_location(repository); }

std::optional<std::string> local_path(const std::string& repository) {
  Location location = parse_location(repository);
  if (location.kind != Location::Kind::local) return {};
  return std::move(location.path);
}

}  // namespace forge::git
