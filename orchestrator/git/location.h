#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/git/repository_cache.h"

namespace forge::git {

/// Where a repository lies: what a job's `repository` means.
struct Location {
  enum class Kind { local, http };
  Kind kind = Kind::local;
  std::string path;       ///< local: absolute, links resolved once find_local() has seen it
  std::string url;        ///< http: scheme, authority in lower case, path; never with credentials
  std::string authority;  ///< http: host, and ":port" when it is not the scheme's own
  std::string host;       ///< http: name or address without brackets
  int port = 0;
  bool tls = false;

  /// What errors and mirrors call it: the path or the URL.
  const std::string& name() const { return kind == Kind::local ? path : url; }
};

/// Judges the name alone; nothing is opened. Throws what check_repository_name() throws.
Location parse_location(const std::string& repository);

/// The configured credential for a host. A credential named without a port goes over https only, or to loopback: a job must not be able
/// to send a token in the clear by writing http:// before the host.
std::optional<Credential> credential_for(const Location& location, const std::vector<Credential>& credentials);

}  // namespace forge::git
