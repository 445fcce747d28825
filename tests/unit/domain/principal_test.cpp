#include "orchestrator/domain/principal.h"

#include <gtest/gtest.h>

namespace forge {
namespace {

TEST(Roles, AreReadBackFromTheirNames) {
  for (const Role role : {Role::admin, Role::operator_, Role::reviewer, Role::viewer}) EXPECT_EQ(parse_role(name_of(role)), role);
  EXPECT_EQ(name_of(Role::operator_), "operator");
  EXPECT_EQ(parse_role("root"), std::nullopt);
  EXPECT_EQ(parse_role(""), std::nullopt);
}

TEST(Roles, IncludeTheLesserOnes) {
  EXPECT_TRUE(at_least(Role::admin, Role::viewer));
  EXPECT_TRUE(at_least(Role::operator_, Role::reviewer));
  EXPECT_TRUE(at_least(Role::viewer, Role::viewer));
  EXPECT_FALSE(at_least(Role::viewer, Role::reviewer));
  EXPECT_FALSE(at_least(Role::operator_, Role::admin));
}

TEST(Principals, MayDoLittleUnlessTold) {
  EXPECT_EQ(Principal{}.role, Role::viewer);
  EXPECT_FALSE(Principal{}.local);
}

}  // namespace
}  // namespace forge
