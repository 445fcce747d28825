#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/store/store.h"
#include "orchestrator/store/writer.h"

/// Tokens, sign-in links and sessions of forge.db.
namespace forge::store {

/// Throws conflict when a live token has that name.
TokenRow insert_token(WriteScope& scope, const std::string& name, Role role, const std::string& secret_hash);
/// Revoked ones too, oldest first.
std::vector<TokenRow> list_tokens(Database& main);
std::optional<TokenRow> find_live_token(Database& main, const std::string& secret_hash);
/// Sets its last use to now.
void touch_token(WriteScope& scope, const TokenId& token);
/// By id, name or unique prefix of the id, in that order; also deletes its sessions. Throws not_found, conflict.
TokenRow revoke_token(WriteScope& scope, const std::string& id_or_name);

/// `expires_ms` is Unix time in milliseconds; what has expired is swept.
void insert_sign_in(WriteScope& scope, const std::string& secret_hash, Role role, std::int64_t expires_ms);
/// Nothing when it is unknown, taken or expired. It is gone afterwards.
std::optional<Role> take_sign_in(WriteScope& scope, const std::string& secret_hash);

/// Sweeps dead sessions. Throws unauthenticated when its token is not live.
void insert_session(WriteScope& scope, const SessionRow& session);
/// Live means: used within 12 hours and made within 30 days.
std::optional<SessionRow> find_live_session(Database& main, const std::string& secret_hash, std::int64_t now_ms);
/// Without their hashes, oldest first.
std::vector<SessionRow> list_live_sessions(Database& main, std::int64_t now_ms);
void touch_session(WriteScope& scope, const std::string& id);
/// Throws not_found.
void delete_session(WriteScope& scope, const std::string& id);

}  // namespace forge::store
