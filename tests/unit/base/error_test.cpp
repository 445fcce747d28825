#include "orchestrator/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/errors.h"

namespace forge {
namespace {

TEST(ErrorCodes, EveryNameIsReadBack) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::internal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_FALSE(name_of(code).empty());
    EXPECT_EQ(parse_error_code(name_of(code)), code) << name_of(code);
  }
  EXPECT_EQ(parse_error_code("Not_Found"), std::nullopt);
  EXPECT_EQ(name_of(ErrorCode::timed_out), "timed_out");
  EXPECT_EQ(name_of(ErrorCode::internal), "internal");
}

TEST(Errors, GainContextFromTheInsideOut) {
  const auto error = test::error_of([] {
    doing("starting job j-1", [] { doing("opening repository /x", []() -> int { throw Error(ErrorCode::not_found, "no such path"); }); });
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::not_found);
  EXPECT_STREQ(error->what(), "starting job j-1: opening repository /x: no such path");
  EXPECT_EQ(error->client_text(), "");
}

TEST(Errors, DoingHandsTheResultThroughAlsoAReference) {
  int value = 1;
  int& same = doing("looking", [&]() -> int& { return value; });
  same = 2;
  EXPECT_EQ(value, 2);
}

TEST(Errors, ContextNeverReachesTheClient) {
  const auto error = test::error_of(
      [] { doing("reading /secret/path", []() -> int { throw public_failure(ErrorCode::conflict, "the run has ended"); }); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->client_text(), "the run has ended");
}

TEST(Errors, BadInputNamesFieldProblemAndRemedy) {
  const Error error = bad_input("limits.max_turns", "expected 1 to 500, found 0", "try 50");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_STREQ(error.what(), "limits.max_turns: expected 1 to 500, found 0");
  EXPECT_EQ(error.client_text(), "expected 1 to 500, found 0");
  EXPECT_EQ(error.field(), "limits.max_turns");
  EXPECT_EQ(error.hint(), "try 50");
  EXPECT_STREQ(bad_input("", "no").what(), "no");
}

TEST(Errors, OfTheSystemBecomeCodes) {
  const std::pair<int, ErrorCode> table[] = {{ENOENT, ErrorCode::not_found},         {ENOTDIR, ErrorCode::not_found},
                                             {EEXIST, ErrorCode::conflict},          {EACCES, ErrorCode::permission_denied},
                                             {EROFS, ErrorCode::permission_denied},  {ENOSPC, ErrorCode::limit_exceeded},
                                             {EMFILE, ErrorCode::limit_exceeded},    {ETXTBSY, ErrorCode::busy},
                                             {ECONNREFUSED, ErrorCode::unavailable}, {EPIPE, ErrorCode::unavailable},
                                             {ETIMEDOUT, ErrorCode::timed_out},      {EINVAL, ErrorCode::internal}};
  for (const auto& [value, code] : table) EXPECT_EQ(name_of(system_failure("x", value).code()), name_of(code)) << value;
  EXPECT_STREQ(system_failure("opening '/x'", ENOENT).what(), "opening '/x': No such file or directory");
}

}  // namespace
}  // namespace forge
