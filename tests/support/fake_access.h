#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"
#include "orchestrator/domain/access.h"

namespace forge::test {

/// AccessControl in memory, with a clock that the test sets.
class FakeAccess final : public AccessControl {
 public:
  std::int64_t now_ms = 0;

  std::optional<AccessToken> token(const std::string& secret_hash) override {
    auto state = state_.lock();
    const auto found = state->tokens.find(secret_hash);
    if (found == state->tokens.end() || found->second.revoked) return {};
    return found->second;
  }
  AccessToken add_token(const std::string& name, Role role, const std::string& secret_hash) override {
    auto state = state_.lock();
    for (const auto& [hash, token] : state->tokens)
      if (token.name == name && !token.revoked) throw public_failure(ErrorCode::conflict, "a token named '" + name + "' exists");
    AccessToken token{.id = TokenId("token" + std::to_string(state->tokens.size() + 1)), .name = name, .role = role, .created_ms = now_ms};
    state->tokens[secret_hash] = token;
    return token;
  }
  std::vector<AccessToken> tokens() override {
    std::vector<AccessToken> all;
    auto state = state_.lock();
    for (const auto& [hash, token] : state->tokens) all.push_back(token);
    return all;
  }
  AccessToken revoke_token(const std::string& id_or_name) override {
    auto state = state_.lock();
    for (auto& [hash, token] : state->tokens) {
      if (token.revoked || (token.id.str() != id_or_name && token.name != id_or_name)) continue;
      token.revoked = true;
      const TokenId id = token.id;
      std::erase_if(state->sessions, [&](const auto& entry) { return entry.second.token == id; });
      return token;
    }
    throw public_failure(ErrorCode::not_found, "no such token");
  }
  void add_sign_in(const std::string& secret_hash, Role role, std::int64_t expires_ms) override {
    state_.lock()->sign_ins[secret_hash] = {role, expires_ms};
  }
  std::optional<Role> take_sign_in(const std::string& secret_hash) override {
    auto state = state_.lock();
    const auto found = state->sign_ins.find(secret_hash);
    if (found == state->sign_ins.end()) return {};
    const auto [role, expires_ms] = found->second;
    state->sign_ins.erase(found);
    return now_ms < expires_ms ? std::optional(role) : std::nullopt;
  }
  void add_session(const AccessSession& session) override { state_.lock()->sessions[session.secret_hash] = session; }
  std::optional<AccessSession> session(const std::string& secret_hash) override {
    auto state = state_.lock();
    const auto found = state->sessions.find(secret_hash);
    return found == state->sessions.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<AccessSession> sessions() override {
    std::vector<AccessSession> all;
    auto state = state_.lock();
    for (const auto& [hash, session] : state->sessions) all.push_back(session);
    return all;
  }
  void end_session(const std::string& id) override {
    const auto gone = std::erase_if(state_.lock()->sessions, [&](const auto& entry) { return entry.second.id == id; });
    if (gone == 0) throw public_failure(ErrorCode::not_found, "no such session");
  }

 private:
  struct SignIn {
    Role role;
    std::int64_t expires_ms;
  };
  struct State {
    std::map<std::string, AccessToken> tokens;  ///< by hash
    std::map<std::string, SignIn> sign_ins;
    std::map<std::string, AccessSession> sessions;
  };
  Guarded<State> state_;
};

}  // namespace forge::test
