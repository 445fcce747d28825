#include "orchestrator/store/access_rows.h"

#include <algorithm>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::store {
namespace {

// A browser left open over night is signed out; one in daily use signs in once a month.
constexpr std::int64_t kIdleMs = 12LL * 3600 * 1000;
constexpr std::int64_t kLifetimeMs = 30LL * 24 * 3600 * 1000;

Role role_in(Query& row) {
  const auto role = parse_role(row.text("role"));
  if (!role) throw Error(ErrorCode::corrupt, "unknown role '" + row.text("role") + "' in the database");
  return *role;
}

TokenRow token_in(Query& row) {
  return {.id = TokenId(row.text("id")),
          .name = row.text("name"),
          .role = role_in(row),
          .created_ms = row.integer("created_ms"),
          .last_used_ms = row.integer("last_used_ms"),
          .revoked = row.integer("revoked") != 0};
}

SessionRow session_in(Query& row) {
  return {.id = row.text("id"),
          .secret_hash = {},
          .principal = row.text("principal"),
          .role = role_in(row),
          .token = TokenId(row.text("token_id")),
          .created_ms = row.integer("created_ms"),
          .last_used_ms = row.integer("last_used_ms")};
}

/// The live token that `text` names: its id, its name, or the beginning of its id when that is unique.
TokenRow named_token(Database& main, const std::string& text) {
  const std::string id = lower_ascii(text);
  Query query = main.query(R"sql(
      SELECT *, CASE WHEN id = :id THEN 0 WHEN name = :name THEN 1 ELSE 2 END AS rank FROM tokens
       WHERE revoked = 0 AND (id = :id OR name = :name OR (:prefix AND id >= :id AND id < :id || '{'))
       ORDER BY rank LIMIT 2
  )sql");
  query.bind(":id", id).bind(":name", text).bind(":prefix", is_id_prefix(id));
  if (!query.step()) throw public_failure(ErrorCode::not_found, "no live token '" + to_utf8(text).text + "'");
  TokenRow token = token_in(query);
  const bool only_a_prefix = query.integer("rank") == 2;
  if (only_a_prefix && query.step()) throw public_failure(ErrorCode::conflict, "'" + text + "' is the beginning of several token ids");
  return token;
}

}  // namespace

TokenRow insert_token(WriteScope& scope, const std::string& name, Role role, const std::string& secret_hash) {
  {
    Query taken = scope.main.query("SELECT 1 FROM tokens WHERE name = :name AND revoked = 0");
    if (taken.bind(":name", name).step()) throw public_failure(ErrorCode::conflict, "a token named '" + name + "' exists");
  }
  TokenRow token{
      .id = new_id<TokenId>(scope.now_ms), .name = name, .role = role, .created_ms = scope.now_ms, .last_used_ms = 0, .revoked = false};
  scope.main.query("INSERT INTO tokens (id, name, role, secret_hash, created_ms) VALUES (:id, :name, :role, :secret_hash, :created)")
      .bind(":id", token.id.str())
      .bind(":name", name)
      .bind(":role", name_of(role))
      .bind(":secret_hash", secret_hash)
      .bind(":created", token.created_ms)
      .run();
  return token;
}

std::vector<TokenRow> list_tokens(Database& main) {
  std::vector<TokenRow> tokens;
  Query query = main.query("SELECT * FROM tokens ORDER BY id");
  while (query.step()) tokens.push_back(token_in(query));
  return tokens;
}

std::optional<TokenRow> find_live_token(Database& main, const std::string& secret_hash) {
  Query query = main.query("SELECT * FROM tokens WHERE secret_hash = :secret_hash AND revoked = 0");
  if (!query.bind(":secret_hash", secret_hash).step()) return {};
  return token_in(query);
}

void touch_token(WriteScope& scope, const TokenId& token) {
  scope.main.query("UPDATE tokens SET last_used_ms = :now WHERE id = :id").bind(":now", scope.now_ms).bind(":id", token.str()).run();
}

TokenRow revoke_token(WriteScope& scope, const std::string& id_or_name) {
  TokenRow token = named_token(scope.main, id_or_name);
  scope.main.query("UPDATE tokens SET revoked = 1 WHERE id = :id").bind(":id", token.id.str()).run();
  scope.main.query("DELETE FROM sessions WHERE token_id = :id").bind(":id", token.id.str()).run();
  token.revoked = true;
  return token;
}

void insert_sign_in(WriteScope& scope, const std::string& secret_hash, Role role, std::int64_t expires_ms) {
  // What has expired is swept where new rows come in: no timer is needed, and the table stays small.
  scope.main.query("DELETE FROM sign_ins WHERE expires_ms <= :now").bind(":now", scope.now_ms).run();
  scope.main.query("INSERT INTO sign_ins (secret_hash, role, expires_ms) VALUES (:secret_hash, :role, :expires)")
      .bind(":secret_hash", secret_hash)
      .bind(":role", name_of(role))
      .bind(":expires", expires_ms)
      .run();
}

std::optional<Role> take_sign_in(WriteScope& scope, const std::string& secret_hash) {
  // Deleted and read in one statement: of two takers at once only one gets a row.
  Query query = scope.main.query("DELETE FROM sign_ins WHERE secret_hash = :secret_hash RETURNING role, expires_ms");
  if (!query.bind(":secret_hash", secret_hash).step() || query.integer("expires_ms") <= scope.now_ms) return {};
  return role_in(query);
}

void insert_session(WriteScope& scope, const SessionRow& session) {
  if (!session.token.empty()) {
    // Looked at again here: the token may have been revoked since it was shown.
    Query live = scope.main.query("SELECT 1 FROM tokens WHERE id = :id AND revoked = 0");
    if (!live.bind(":id", session.token.str()).step()) throw Error(ErrorCode::unauthenticated, "the token was revoked");
  }
  scope.main.query("DELETE FROM sessions WHERE last_used_ms <= :now - :idle OR created_ms <= :now - :lifetime")
      .bind(":now", scope.now_ms)
      .bind(":idle", kIdleMs)
      .bind(":lifetime", kLifetimeMs)
      .run();
  scope.main
      .query(R"sql(
          INSERT INTO sessions (id, secret_hash, principal, role, token_id, created_ms, last_used_ms)
          VALUES (:id, :secret_hash, :principal, :role, :token, :created, :last_used)
      )sql")
      .bind(":id", session.id)
      .bind(":secret_hash", session.secret_hash)
      .bind(":principal", session.principal)
      .bind(":role", name_of(session.role))
      .bind(":token", session.token.empty() ? std::nullopt : std::optional(session.token.str()))
      .bind(":created", session.created_ms)
      .bind(":last_used", std::max(session.created_ms, session.last_used_ms))
      .run();
}

std::optional<SessionRow> find_live_session(Database& main, const std::string& secret_hash, std::int64_t now_ms) {
  Query query = main.query(R"sql(
      SELECT * FROM sessions WHERE secret_hash = :secret_hash AND last_used_ms > :now - :idle AND created_ms > :now - :lifetime
  )sql");
  query.bind(":secret_hash", secret_hash).bind(":now", now_ms).bind(":idle", kIdleMs).bind(":lifetime", kLifetimeMs);
  if (!query.step()) return {};
  SessionRow session = session_in(query);
  session.secret_hash = secret_hash;
  return session;
}

std::vector<SessionRow> list_live_sessions(Database& main, std::int64_t now_ms) {
  std::vector<SessionRow> sessions;
  Query query = main.query(R"sql(
      SELECT * FROM sessions WHERE last_used_ms > :now - :idle AND created_ms > :now - :lifetime ORDER BY created_ms, id
  )sql");
  query.bind(":now", now_ms).bind(":idle", kIdleMs).bind(":lifetime", kLifetimeMs);
  while (query.step()) sessions.push_back(session_in(query));
  return sessions;
}

void touch_session(WriteScope& scope, const std::string& id) {
  scope.main.query("UPDATE sessions SET last_used_ms = :now WHERE id = :id").bind(":now", scope.now_ms).bind(":id", id).run();
}

void delete_session(WriteScope& scope, const std::string& id) {
  if (scope.main.query("DELETE FROM sessions WHERE id = :id").bind(":id", id).run() == 0)
    throw public_failure(ErrorCode::not_found, "no session '" + to_utf8(id).text + "'");
}

}  // namespace forge::store
