#include "orchestrator/egress/host_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/egress/address.h"

namespace forge::egress {
namespace {

constexpr std::size_t kMaxNameBytes = 253;
constexpr std::size_t kMaxLabelBytes = 63;

bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; }

/// Underscores stand in real names, though not in host names of the books.
bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kMaxLabelBytes && label.front() != '-' &&
         std::all_of(label.begin(), label.end(), is_name_character);
}

bool is_name(std::string_view host) {
  if (host.empty() || host.size() > kMaxNameBytes) return false;
  const std::vector<std::string> labels = split(host, '.');
  return std::all_of(labels.begin(), labels.end(), is_label);
}

/// "host:port" or "host" > host and port text. Colons inside brackets, and more than one outside, belong to the host.
struct Parts {
  std::string_view host;
  std::string_view port;
  bool has_port = false;
};
Parts split_port(std::string_view entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos || entry.ends_with(']')) return {entry, {}, false};
  if (!entry.starts_with('[') && entry.find(':') != colon) return {entry, {}, false};
  return {entry.substr(0, colon), entry.substr(colon + 1), true};
}

}  // namespace

// One spelling per host: rules, trace and cache compare texts.
std::string canonical_host(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (const auto address = Address::parse(host)) return address->text();
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string name = lower_ascii(host);
  return is_name(name) ? name : std::string();
}

int parse_port(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535 ? port : 0;
}

HostRules HostRules::parse(const std::vector<std::string>& entries, const std::string& field) {
  HostRules rules;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Parts parts = split_port(entries[i]);
    Rule rule;
    rule.below = parts.host.starts_with("*.");
    if (rule.below) parts.host.remove_prefix(2);
    rule.host = canonical_host(parts.host);
    rule.port = parts.has_port ? parse_port(parts.port) : 0;
    const bool address_below = rule.below && Address::parse(rule.host).has_value();
    if (rule.host.empty() || address_below || (parts.has_port && rule.port == 0))
      throw bad_input(fmt::format("{}[{}]", field, i), fmt::format("'{}' is not a host", to_utf8(entries[i]).text),
                      "example.com, *.example.com, or one of them with a port, as in example.com:8443");
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

HostRules HostRules::parse_allowed(const std::vector<std::string>& entries, const std::string& field) {
  HostRules rules = parse(entries, field);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string& host = rules.rules_[i].host;
    const auto address = Address::parse(host);
    if (host == "localhost" || host.ends_with(".localhost") || (address && !address->is_public()))
      throw bad_input(fmt::format("{}[{}]", field, i),
                      fmt::format("'{}' is this machine or a private network, and a sandbox reaches the public internet only", entries[i]),
                      "put what the run needs into the template, or serve it at a public address");
  }
  return rules;
}

// The dot in front is part of the match: "notexample.com" is not below "example.com".
bool HostRules::Rule::names(std::string_view asked) const {
  if (!below) return asked == host;
  return asked.size() > host.size() + 1 && asked.ends_with(host) && asked[asked.size() - host.size() - 1] == '.';
}

bool HostRules::match(std::string_view host, int port) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return rule.names(host) && (rule.port == 0 ? port == 80 || port == 443 : port == rule.port);
  });
}

bool HostRules::match_host(std::string_view host) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) { return rule.names(host); });
}

}  // namespace forge::egress
