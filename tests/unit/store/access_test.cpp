#include "orchestrator/store/access.h"

#include <atomic>

#include "tests/unit/store/store_fixture.h"

namespace forge::store {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kDayMs = 24 * kHourMs;

template <typename Backend>
class StoredAccess : public StoreTest<Backend> {
 protected:
  void sign_in(const std::string& id, const TokenId& token = {}) {
    const std::int64_t now = this->clock_.now_ms();
    this->store().insert_session({.id = id,
                                  .secret_hash = "hash of " + id,
                                  .principal = "anna",
                                  .role = Role::operator_,
                                  .token = token,
                                  .created_ms = now,
                                  .last_used_ms = now});
  }
  bool lives(const std::string& session) { return this->store().session_by_hash("hash of " + session).has_value(); }
};
TYPED_TEST_SUITE(StoredAccess, Backends);

TYPED_TEST(StoredAccess, FindsALiveTokenByItsHash) {
  const TokenRow made = this->store().insert_token("ci", Role::reviewer, "h1");
  const auto found = this->store().token_by_hash("h1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, made.id);
  EXPECT_EQ(found->name, "ci");
  EXPECT_EQ(found->role, Role::reviewer);
  EXPECT_FALSE(this->store().token_by_hash("h2"));
  EXPECT_THAT(this->store().tokens(), SizeIs(1));
}

TYPED_TEST(StoredAccess, MarksATokenUsedAtMostOnceAMinute) {
  this->store().insert_token("ci", Role::viewer, "h1");
  const std::int64_t start = this->clock_.now_ms();
  const auto last_used = [&] { return this->store().tokens().at(0).last_used_ms; };
  EXPECT_EQ(last_used(), 0);
  this->store().token_by_hash("h1");
  EXPECT_EQ(last_used(), start);
  this->clock_.advance_ms(59'999);
  this->store().token_by_hash("h1");
  EXPECT_EQ(last_used(), start);
  this->clock_.advance_ms(1);
  this->store().token_by_hash("h1");
  EXPECT_EQ(last_used(), start + 60'000);
}

TYPED_TEST(StoredAccess, KeepsNamesOfLiveTokensApart) {
  this->store().insert_token("ci", Role::viewer, "h1");
  EXPECT_EQ(error_of([&] { this->store().insert_token("ci", Role::viewer, "h2"); }), "conflict: a token named 'ci' exists");
  this->store().revoke_token("ci");
  this->store().insert_token("ci", Role::viewer, "h2");
  EXPECT_THAT(this->store().tokens(), SizeIs(2));
}

TYPED_TEST(StoredAccess, RevokesByIdPrefixAndName) {
  const TokenRow a = this->store().insert_token("a", Role::viewer, "ha");
  const TokenRow b = this->store().insert_token("b", Role::viewer, "hb");
  EXPECT_THAT(error_of([&] { this->store().revoke_token(a.id.str().substr(0, 8)); }), StartsWith("conflict"));
  EXPECT_TRUE(this->store().revoke_token(a.id.str()).revoked);
  EXPECT_EQ(this->store().revoke_token(b.id.str().substr(0, 8)).id, b.id);  // unique now
  EXPECT_FALSE(this->store().token_by_hash("ha"));
  EXPECT_FALSE(this->store().token_by_hash("hb"));
  EXPECT_EQ(error_of([&] { this->store().revoke_token("a"); }), "not_found: no live token 'a'");
  EXPECT_THAT(error_of([&] { this->store().revoke_token(""); }), StartsWith("not_found"));
}

TYPED_TEST(StoredAccess, EndsTheSessionsOfARevokedToken) {
  const TokenRow token = this->store().insert_token("ci", Role::viewer, "h");
  this->sign_in("of token", token.id);
  this->sign_in("of link");
  this->store().revoke_token("ci");
  EXPECT_FALSE(this->lives("of token"));
  EXPECT_TRUE(this->lives("of link"));
  EXPECT_THAT(error_of([&] { this->sign_in("late", token.id); }), StartsWith("unauthenticated"));
}

TYPED_TEST(StoredAccess, GivesASignInLinkToOneTakerOnly) {
  this->store().insert_sign_in("h", Role::admin, this->clock_.now_ms() + 1000);
  std::atomic<int> taken = 0;
  on_threads(8, [&](int) { taken += this->store().take_sign_in("h") == Role::admin ? 1 : 0; });
  EXPECT_EQ(taken, 1);
}

TYPED_TEST(StoredAccess, GivesNoExpiredSignInLink) {
  this->store().insert_sign_in("h", Role::admin, this->clock_.now_ms() + 1000);
  this->clock_.advance_ms(1000);
  EXPECT_FALSE(this->store().take_sign_in("h"));
  this->clock_.advance_ms(-500);
  EXPECT_FALSE(this->store().take_sign_in("h"));  // it is gone
}

TYPED_TEST(StoredAccess, EndsASessionAfterTwelveIdleHours) {
  this->sign_in("s");
  this->clock_.advance_ms(12 * kHourMs - 1);
  EXPECT_TRUE(this->lives("s"));  // and is used by that
  this->clock_.advance_ms(12 * kHourMs - 1);
  EXPECT_TRUE(this->lives("s"));
  this->clock_.advance_ms(12 * kHourMs);
  EXPECT_FALSE(this->lives("s"));
  EXPECT_THAT(this->store().sessions(), IsEmpty());
}

TYPED_TEST(StoredAccess, EndsASessionAfterThirtyDaysOfUse) {
  this->sign_in("s");
  for (int hours = 0; hours < 30 * 24 - 10; hours += 10) {
    EXPECT_TRUE(this->lives("s"));
    this->clock_.advance_ms(10 * kHourMs);
  }
  EXPECT_TRUE(this->lives("s"));
  this->clock_.advance_ms(10 * kHourMs);
  EXPECT_FALSE(this->lives("s"));
}

TYPED_TEST(StoredAccess, ListsSessionsWithoutTheirHashes) {
  this->sign_in("s");
  const auto sessions = this->store().sessions();
  ASSERT_THAT(sessions, SizeIs(1));
  EXPECT_EQ(sessions[0].id, "s");
  EXPECT_EQ(sessions[0].principal, "anna");
  EXPECT_EQ(sessions[0].role, Role::operator_);
  EXPECT_EQ(sessions[0].secret_hash, "");
  EXPECT_TRUE(sessions[0].token.empty());
  this->store().delete_session("s");
  EXPECT_FALSE(this->lives("s"));
  EXPECT_EQ(error_of([&] { this->store().delete_session("s"); }), "not_found: no session 's'");
}

TYPED_TEST(StoredAccess, IsWhatDoorsSeeThroughAccessControl) {
  const auto access = make_access_control(this->store());
  const NewToken made = issue_token(*access, "ci", Role::operator_);
  EXPECT_EQ(access->token(hash_secret(made.secret))->id, made.token.id);
  const std::string link = issue_sign_in(*access, Role::viewer, this->clock_.now_ms());
  EXPECT_EQ(access->take_sign_in(hash_secret(link)), Role::viewer);
  EXPECT_EQ(access->revoke_token("ci").id, made.token.id);
  EXPECT_THAT(access->tokens(), SizeIs(1));
  EXPECT_THAT(access->sessions(), IsEmpty());
  EXPECT_THAT(error_of([&] { access->end_session("x"); }), StartsWith("not_found"));
}

}  // namespace
}  // namespace forge::store
