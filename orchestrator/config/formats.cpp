#include "orchestrator/config/formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace forge::config {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kAlnum = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Not empty, and nothing but these characters.
bool consists_of(std::string_view text, std::string_view allowed) { return !text.empty() && text.find_first_not_of(allowed) == text.npos; }

/// No control characters: such a value ends in headers, signatures and logs, where a line break is an attack.
bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

/// Digits only: "+1", " 1" and "0x1" are slips, not numbers.
std::optional<int> number_up_to(std::string_view text, int most) {
  int value = 0;
  if (text.size() > 5 || !consists_of(text, kDigits)) return {};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value <= most ? std::optional(value) : std::nullopt;
}

bool is_ip(std::string_view text) {
  in6_addr address{};
  const std::string copy(text);
  return inet_pton(AF_INET, copy.c_str(), &address) == 1 || inet_pton(AF_INET6, copy.c_str(), &address) == 1;
}

/// A DNS name: labels of letters, digits, '-' and '_' (internal names have them), 253 characters at most.
bool is_dns_name(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const auto dot = text.find('.');
    const auto label = text.substr(0, dot);
    if (label.size() > 63 || !consists_of(label, std::string(kAlnum) + "-_") || label.front() == '-' || label.back() == '-') return false;
    if (dot == text.npos) return true;
    text.remove_prefix(dot + 1);
  }
}

struct HostPort {
  std::string_view host;
  std::optional<std::string_view> port;
};

/// "[::1]:80" > "::1", "80"; nothing when the brackets do not match.
std::optional<HostPort> split_host_port(std::string_view text) {
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == text.npos) return {};
    const auto rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return {};
    return HostPort{text.substr(1, close - 1), rest.empty() ? std::nullopt : std::optional(rest.substr(1))};
  }
  if (is_ip(text)) return HostPort{text, std::nullopt};
  const auto colon = text.rfind(':');
  if (colon == text.npos) return HostPort{text, std::nullopt};
  return HostPort{text.substr(0, colon), text.substr(colon + 1)};
}

/// A port of 0 would mean any, which no host to connect to has.
bool fits_host_port(std::string_view text) {
  const auto parts = split_host_port(text);
  if (!parts) return false;
  return (is_ip(parts->host) || is_dns_name(parts->host)) && (!parts->port || number_up_to(*parts->port, 65535).value_or(0) > 0);
}

bool fits_address(std::string_view text) {
  const auto parts = split_host_port(text);
  return parts && parts->port && number_up_to(*parts->port, 65535) && (is_ip(parts->host) || is_dns_name(parts->host));
}

/// Credentials in a URL would be shown by `config show` and land in logs; a query or fragment cannot be followed by a path.
bool fits_url(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const auto rest = text.substr(scheme.size());
    return printable(text) && text.find_first_of(" ?#") == text.npos && fits_host_port(rest.substr(0, rest.find('/')));
  }
  return false;
}

bool fits_host(std::string_view text) { return fits_host_port(text.starts_with("*.") ? text.substr(2) : text); }

bool fits_network(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = text.substr(0, slash);
  if (!is_ip(address)) return false;
  return slash == text.npos || number_up_to(text.substr(slash + 1), address.find(':') == address.npos ? 32 : 128).has_value();
}

bool fits_absolute_path(std::string_view text) { return text.starts_with('/') && text.find('\0') == text.npos; }

bool fits_variable(std::string_view text) {
  return consists_of(text, std::string(kAlnum) + "_") && kDigits.find(text.front()) == kDigits.npos;
}

/// < and > delimit the address in a git signature.
bool fits_person_name(std::string_view text) {
  return !text.empty() && text.size() <= 200 && printable(text) && text.find_first_of("<>") == text.npos;
}

/// What git accepts; whether mail arrives there is nobody's concern here.
bool fits_email(std::string_view text) { return fits_person_name(text) && text.find('@') != text.npos && text.find(' ') == text.npos; }

bool fits_word(std::string_view text) { return !text.empty() && text.size() <= 200 && printable(text) && text.find(' ') == text.npos; }

/// A script is a file, and paths may hold spaces.
bool fits_model_name(std::string_view text) { return fits_word(text) || (text.starts_with("scripted:") && printable(text)); }

bool fits_cassette(std::string_view text) {
  const auto colon = text.find(':');
  const auto word = text.substr(0, colon);
  return colon != text.npos && colon + 1 < text.size() && (word == "record" || word == "replay") && printable(text);
}

}  // namespace

const Format kAddress{"an address and port such as 127.0.0.1:8700", fits_address};
const Format kUrl{"an http or https URL without user, password or query", fits_url};
const Format kHost{"a host name such as example.com or *.example.com, with :port if needed", fits_host};
const Format kNetwork{"an IP address or a network such as 10.0.0.0/8", fits_network};
const Format kAbsolutePath{"an absolute path", fits_absolute_path};
const Format kVariable{"the name of an environment variable", fits_variable};
const Format kPersonName{"one line without < and >", fits_person_name};
const Format kEmail{"an e-mail address", fits_email};
const Format kWord{"one word", fits_word};
const Format kCassette{"record:FILE or replay:FILE", fits_cassette};
const Format kModelName{"provider/model, a model name or scripted:FILE", fits_model_name};

bool fits_entry_name(std::string_view name) { return name.size() <= 64 && consists_of(name, std::string(kAlnum) + "-_."); }

bool fits_credential_host(std::string_view name) { return fits_host_port(name); }

}  // namespace forge::config
