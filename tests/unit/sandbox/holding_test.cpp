#include "orchestrator/sandbox/local/holding.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "tests/support/temp_dir.h"

namespace forge::sandbox::local {
namespace {

class HoldingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_give_identities()) GTEST_SKIP() << "only root over ids from 2,000,000 gives identities";
    identities_ = std::make_unique<IdentityPool>(directory_.str());
  }
  std::uint32_t next_id() {
    const Identity next = identities_->take();
    identities_->give_back(next);
    return next.uid;
  }

  test::TempDir directory_;
  std::unique_ptr<Log> log_ = make_null_log();
  CgroupPool groups_{{}, *log_};
  std::unique_ptr<IdentityPool> identities_;
};

TEST_F(HoldingTest, GoesBackOnEveryWayOut) {
  const std::string tree = directory_.str() + "/tree";
  std::uint32_t held = 0;
  const auto fail = [&] {
    Holding holding(groups_, *identities_, *log_);
    held = holding.identity().uid;
    holding.take_tree(tree);
    test::write_file(tree + "/half", "copied");
    EXPECT_NE(next_id(), held);
    throw std::runtime_error("not one of our errors");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(next_id(), held);
  EXPECT_FALSE(std::filesystem::exists(tree));
}

TEST_F(HoldingTest, KeepsTheFirstErrorAndGivesTheIdBackWhenItsTreeCannotBeRemoved) {
  std::uint32_t held = 0;
  const auto fail = [&] {
    Holding holding(groups_, *identities_, *log_);
    held = holding.identity().uid;
    holding.take_tree(directory_.str() + "/..");  // remove_tree() refuses it
    throw std::runtime_error("the first");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(next_id(), held);
}

TEST_F(HoldingTest, NeverGivesASpentIdBack) {
  Holding holding(groups_, *identities_, *log_);
  holding.spend_identity();
  holding.give_back();
  holding.give_back();
  EXPECT_NE(next_id(), holding.identity().uid);
}

}  // namespace
}  // namespace forge::sandbox::local
