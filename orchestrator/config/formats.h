#pragma once

#include "orchestrator/config/keys.h"

namespace forge::config {

/// "127.0.0.1:8700", "[::1]:8700"; port 0 = any free one.
extern const Format kAddress;
/// http or https, a host, no user and no password (they would be shown).
extern const Format kUrl;
/// "example.com", "*.example.com", an IP address; optionally ":port".
extern const Format kHost;
/// An IP address, or a network such as 10.0.0.0/8.
extern const Format kNetwork;
extern const Format kAbsolutePath;
/// Name of an environment variable.
extern const Format kVariable;
/// One line, nothing that would break a git signature.
extern const Format kPersonName;
extern const Format kEmail;
extern const Format kWord;
/// "provider/model", "model", "scripted:FILE" (a path may hold spaces).
extern const Format kModelName;

/// "record:FILE" or "replay:FILE".
extern const Format kCassette;

/// Names of providers and templates: letters, digits, '-', '_', '.', 1 to 64 of them.
bool fits_entry_name(std::string_view name);
/// Host of a credential: kHost without a star.
bool fits_credential_host(std::string_view name);

}  // namespace forge::config
