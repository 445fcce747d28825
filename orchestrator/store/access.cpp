#include "orchestrator/store/access.h"

#include <algorithm>

#include "orchestrator/base/error.h"

namespace forge::store {
namespace {

AccessToken token_of(const TokenRow& row) { return {row.id, row.name, row.role, row.created_ms, row.last_used_ms, row.revoked}; }

AccessSession session_of(const SessionRow& row) {
  return {row.id, row.secret_hash, row.principal, row.role, row.token, row.created_ms, row.last_used_ms};
}

class StoredAccess final : public AccessControl {
 public:
  explicit StoredAccess(Store& store) : store_(store) {}

  std::optional<AccessToken> token(const std::string& secret_hash) override {
    const auto row = store_.token_by_hash(secret_hash);
    return row ? std::optional(token_of(*row)) : std::nullopt;
  }
  AccessToken add_token(const std::string& name, Role role, const std::string& secret_hash) override {
    return token_of(store_.insert_token(name, role, secret_hash));
  }
  std::vector<AccessToken> tokens() override {
    std::vector<AccessToken> tokens;
    for (const auto& row : store_.tokens()) tokens.push_back(token_of(row));
    return tokens;
  }
  AccessToken revoke_token(const std::string& id_or_name) override {
    const TokenId id = find_token(id_or_name);
    store_.revoke_token(id.str());
    const auto rows = store_.tokens();
    const auto revoked = std::find_if(rows.begin(), rows.end(), [&](const TokenRow& row) { return row.id == id; });
    if (revoked == rows.end()) throw Error(ErrorCode::corrupt, "a revoked token is gone from the store");
    return token_of(*revoked);
  }

  void add_sign_in(const std::string& secret_hash, Role role, std::int64_t expires_ms) override {
    store_.insert_sign_in(secret_hash, role, expires_ms);
  }
  std::optional<Role> take_sign_in(const std::string& secret_hash) override { return store_.take_sign_in(secret_hash); }

  void add_session(const AccessSession& session) override {
    store_.insert_session(
        {session.id, session.secret_hash, session.principal, session.role, session.token, session.created_ms, session.last_used_ms});
  }
  std::optional<AccessSession> session(const std::string& secret_hash) override {
    const auto row = store_.session_by_hash(secret_hash);
    return row ? std::optional(session_of(*row)) : std::nullopt;
  }
  std::vector<AccessSession> sessions() override {
    std::vector<AccessSession> sessions;
    for (const auto& row : store_.sessions()) {
      sessions.push_back(session_of(row));
      sessions.back().secret_hash.clear();
    }
    return sessions;
  }
  void end_session(const std::string& id) override { store_.delete_session(id); }

 private:
  /// A live token by id, unique prefix of its id, or name: a name can be used again after its token was revoked.
  TokenId find_token(const std::string& id_or_name) {
    std::vector<TokenId> found;
    for (const auto& row : store_.tokens())
      if (!row.revoked && (row.name == id_or_name || (is_id_prefix(id_or_name) && row.id.str().starts_with(id_or_name))))
        found.push_back(row.id);
    if (found.empty()) throw public_failure(ErrorCode::not_found, "there is no token '" + id_or_name + "'");
    if (found.size() > 1) throw public_failure(ErrorCode::conflict, "'" + id_or_name + "' names several tokens");
    return found.front();
  }

  Store& store_;
};

}  // namespace

std::unique_ptr<AccessControl> make_access_control(Store& store) { return std::make_unique<StoredAccess>(store); }

}  // namespace forge::store
