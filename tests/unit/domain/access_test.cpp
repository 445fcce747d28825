#include "orchestrator/domain/access.h"

#include <gmock/gmock.h>

#include "orchestrator/base/error.h"
#include "tests/support/fake_access.h"

namespace forge {
namespace {

using testing::StartsWith;

TEST(Access, ATokenIsFoundByTheHashOfItsSecretOnly) {
  test::FakeAccess access;
  const NewToken made = issue_token(access, "ci", Role::operator_);
  EXPECT_THAT(made.secret, StartsWith(kTokenPrefix));
  EXPECT_GE(made.secret.size(), kTokenPrefix.size() + 43);
  ASSERT_TRUE(access.token(hash_secret(made.secret)));
  EXPECT_EQ(access.token(hash_secret(made.secret))->role, Role::operator_);
  EXPECT_FALSE(access.token(made.secret));
}

TEST(Access, NoTwoSecretsAreEqual) {
  test::FakeAccess access;
  EXPECT_NE(issue_token(access, "a", Role::viewer).secret, issue_token(access, "b", Role::viewer).secret);
  EXPECT_NE(issue_sign_in(access, Role::admin, 0), issue_sign_in(access, Role::admin, 0));
}

TEST(Access, ATokenNeedsAPrintableName) {
  test::FakeAccess access;
  for (const std::string& name : {std::string(), std::string("a\nb"), std::string(101, 'x'), std::string("\xff"), std::string("local")})
    EXPECT_THROW(issue_token(access, name, Role::viewer), Error) << name;
  EXPECT_NO_THROW(issue_token(access, std::string(100, 'x'), Role::viewer));
}

TEST(Access, ASignInSecretExpires) {
  test::FakeAccess access;
  const std::string secret = issue_sign_in(access, Role::admin, 1000);
  access.now_ms = 1000 + kSignInLifetimeMs;
  EXPECT_FALSE(access.take_sign_in(hash_secret(secret)));
}

TEST(Access, ASignInSecretIsTakenOnce) {
  test::FakeAccess access;
  const std::string secret = issue_sign_in(access, Role::admin, 0);
  EXPECT_EQ(access.take_sign_in(hash_secret(secret)), Role::admin);
  EXPECT_FALSE(access.take_sign_in(hash_secret(secret)));
}

}  // namespace
}  // namespace forge
