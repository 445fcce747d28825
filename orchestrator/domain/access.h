#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/ids.h"
#include "orchestrator/domain/principal.h"

namespace forge {

/// A token of the API as it is listed: its secret is shown once, when it is made, and stored as a hash.
struct AccessToken {
  TokenId id;
  std::string name;
  Role role = Role::viewer;
  std::int64_t created_ms = 0;
  std::int64_t last_used_ms = 0;  ///< 0 = never
  bool revoked = false;
};

/// A signed-in browser. 12 h idle and 30 days at most end it.
struct AccessSession {
  std::string id;           ///< names it in lists; not the cookie
  std::string secret_hash;  ///< of the cookie; empty in lists
  std::string principal;
  Role role = Role::viewer;
  TokenId token;  ///< that signed in; empty for a sign-in link
  std::int64_t created_ms = 0;
  std::int64_t last_used_ms = 0;
};

/// What the doors need to know who asks. Secrets arrive as hash_secret(), never in the clear. Safe to call from any thread.
class AccessControl {
 public:
  virtual ~AccessControl() = default;
  /// The live token with this hash; marks it used.
  virtual std::optional<AccessToken> token(const std::string& secret_hash) = 0;
  /// Throws conflict when a live token has that name.
  virtual AccessToken add_token(const std::string& name, Role role, const std::string& secret_hash) = 0;
  virtual std::vector<AccessToken> tokens() = 0;
  /// By id, unique prefix or name; its sessions end with it. Returns what was revoked; throws not_found.
  virtual AccessToken revoke_token(const std::string& id_or_name) = 0;

  virtual void add_sign_in(const std::string& secret_hash, Role role, std::int64_t expires_ms) = 0;
  /// Takes a sign-in link: it is gone afterwards. Nothing when it is unknown, used or expired.
  virtual std::optional<Role> take_sign_in(const std::string& secret_hash) = 0;

  virtual void add_session(const AccessSession& session) = 0;
  /// The live session of this cookie hash; marks it used.
  virtual std::optional<AccessSession> session(const std::string& secret_hash) = 0;
  virtual std::vector<AccessSession> sessions() = 0;
  /// Throws not_found.
  virtual void end_session(const std::string& id) = 0;
};

/// How secrets of tokens begin, so that scanners and people know one when they see it.
inline constexpr std::string_view kTokenPrefix = "forge_";
/// A sign-in link that nobody opened is void after this.
inline constexpr std::int64_t kSignInLifetimeMs = 15LL * 60 * 1000;

/// What is stored and compared in place of a secret: SHA-256 in hex. Secrets are 256 random bits, so no salt or stretching is needed.
std::string hash_secret(std::string_view secret);

struct NewToken {
  AccessToken token;
  std::string secret;  ///< "forge_..." ; shown once
};
/// Makes a token. Throws bad_input for a name that is empty, longer than 100 characters or holds control characters; conflict.
NewToken issue_token(AccessControl& access, const std::string& name, Role role);
/// Makes a one-time sign-in secret for `/sign-in/<secret>`.
std::string issue_sign_in(AccessControl& access, Role role, std::int64_t now_ms);

}  // namespace forge
