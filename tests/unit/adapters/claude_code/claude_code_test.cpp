#include "adapters/claude_code/claude_code.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/with_store.h"

namespace forge::adapters {
namespace {

class ClaudeCodeAdapter : public testing::Test, protected test::WithStore<test::FakeClock> {
 protected:
  models::PriceBook prices_;
  models::ModelFactory factory_{models::ModelSettings{}, prices_, clock_};
  egress::Gateway gateway_{factory_, prices_, *store_, clock_, *log_, {}};
};

// Whether one was there before, nobody knows.
TEST_F(ClaudeCodeAdapter, SaysOfAProgramThatIsNotThereOnlyThat) {
  const auto adapter = make_claude_code(gateway_, {.program = dir_.str() + "/claude", .remedy = "install it"});
  for (const auto& error : {test::error_of([&] { adapter->check({}); }), test::error_of([&] { adapter->files(); })}) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->client_text(), "claude-code is not installed on this machine");
    EXPECT_EQ(error->hint(), "install it");
  }
}

}  // namespace
}  // namespace forge::adapters
