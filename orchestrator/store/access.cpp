#include "orchestrator/store/access.h"

namespace forge::store {
namespace {

class StoredAccess final : public AccessControl {
 public:
  explicit StoredAccess(Store& store) : store_(store) {}

  std::optional<AccessToken> token(const std::string& secret_hash) override { return store_.token_by_hash(secret_hash); }
  AccessToken add_token(const std::string& name, Role role, const std::string& secret_hash) override {
    return store_.insert_token(name, role, secret_hash);
  }
  std::vector<AccessToken> tokens() override { return store_.tokens(); }
  AccessToken revoke_token(const std::string& id_or_name) override { return store_.revoke_token(id_or_name); }

  void add_sign_in(const std::string& secret_hash, Role role, std::int64_t expires_ms) override {
    store_.insert_sign_in(secret_hash, role, expires_ms);
  }
  std::optional<Role> take_sign_in(const std::string& secret_hash) override { return store_.take_sign_in(secret_hash); }

  void add_session(const AccessSession& session) override { store_.insert_session(session); }
  std::optional<AccessSession> session(const std::string& secret_hash) override { return store_.session_by_hash(secret_hash); }
  std::vector<AccessSession> sessions() override { return store_.sessions(); }
  void end_session(const std::string& id) override { store_.delete_session(id); }

 private:
  Store& store_;
};

}  // namespace

std::unique_ptr<AccessControl> make_access_control(Store& store) { return std::make_unique<StoredAccess>(store); }

}  // namespace forge::store
