#include "orchestrator/http/public_error.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/support/golden.h"

namespace forge::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PublicError, EveryCodeHasItsAnswer) {
  std::string all;
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const httpd::Response response = error_response(Error(code, "internal text: /etc/secret"));
    all += std::to_string(response.status) + " " + response.body + "\n";
    EXPECT_THAT(response.body, Not(HasSubstr("secret")));
  }
  test::expect_golden("tests/golden/http/public_errors.txt", all);
}

TEST(PublicError, NoTwoCodesReadTheSame) {
  std::set<std::string> texts;
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) texts.insert(public_text(static_cast<ErrorCode>(i)));
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(ErrorCode::internal) + 1);
}

TEST(PublicError, ShowsWhatWasWrittenForTheClient) {
  const httpd::Response response = error_response(bad_input("limits.max_turns", "is not a number", "1 to 10000"));
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.body,
            R"({"error":{"code":"invalid_argument","field":"limits.max_turns","hint":"1 to 10000","message":"is not a number"}})");
}

TEST(PublicError, ContextAddedForTheLogStaysInside) {
  Error error = public_failure(ErrorCode::not_found, "there is no such job");
  error.add_context("reading /var/lib/forge/forge.db");
  EXPECT_THAT(error_response(error).body, Not(HasSubstr("/var/lib")));
}

TEST(PublicError, AnExceptionThatIsNoErrorIsInternal) {
  const httpd::Response response = error_response(std::runtime_error("vector::_M_range_check at /src/x.cpp"));
  EXPECT_EQ(response.status, 500);
  EXPECT_THAT(response.body, HasSubstr(R"("code":"internal")"));
  EXPECT_THAT(response.body, Not(HasSubstr("vector")));
}

TEST(PublicError, TellsHowToAuthenticateAndWhenToRetry) {
  EXPECT_TRUE(error_response(Error(ErrorCode::unauthenticated, "")).has("www-authenticate"));
  EXPECT_TRUE(error_response(Error(ErrorCode::busy, "")).has("retry-after"));
  EXPECT_TRUE(error_response(Error(ErrorCode::unavailable, "")).has("retry-after"));
  EXPECT_FALSE(error_response(Error(ErrorCode::not_found, "")).has("retry-after"));
}

}  // namespace
}  // namespace forge::http
