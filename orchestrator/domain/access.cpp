#include "orchestrator/domain/access.h"

#include <algorithm>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/crypto/crypto.h"

namespace forge {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kNameBytes = 100;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void check_token_name(const std::string& name) {
  if (name.empty()) throw bad_input("name", "a token needs a name", "name it after who or what will use it");
  if (name.size() > kNameBytes) throw bad_input("name", "longer than 100 bytes");
  if (std::any_of(name.begin(), name.end(), is_control) || !is_utf8(name)) throw bad_input("name", "holds control characters");
  // What people write belongs to a name: nobody may take that of the unix socket.
  if (name == kLocalName) throw bad_input("name", "'local' is who comes through the unix socket", "take another name");
}

}  // namespace

std::string hash_secret(std::string_view secret) { return crypto::sha256_hex(secret); }

NewToken issue_token(AccessControl& access, const std::string& name, Role role) {
  check_token_name(name);
  std::string secret = std::string(kTokenPrefix) + crypto::random_token(kSecretBytes);
  AccessToken token = access.add_token(name, role, hash_secret(secret));
  return {std::move(token), std::move(secret)};
}

std::string issue_sign_in(AccessControl& access, Role role, std::int64_t now_ms) {
  std::string secret = crypto::random_token(kSecretBytes);
  access.add_sign_in(hash_secret(secret), role, now_ms + kSignInLifetimeMs);
  return secret;
}

}  // namespace forge
