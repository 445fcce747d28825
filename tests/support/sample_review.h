#pragma once

#include <string>

#include "orchestrator/domain/review_control.h"

namespace forge::test {

/// A path in Latin-1: git has such names, and JSON does not.
inline const std::string kLatinPath = "docs/caf\xe9.txt";

/// Waiting, and a bit of everything: two hunks of text (accepted, undecided), a mode, a name that is not UTF-8 with a verdict about an
/// earlier form of it, a comment with a suggestion. Ids begin with a1, b2, c3, d4, so that they can be told apart.
inline Review sample_review(const JobId& job = JobId("01jd0000010000000000000000"), int run = 1) {
  const auto id = [](const char* digits) { return std::string(digits) + std::string(kHunkIdDigits - std::string(digits).size(), '0'); };
  Review review{.job = job, .run = run, .revision = 3, .status = ReviewStatus::waiting, .summary = "Nearly.", .files = {}, .comments = {}};
  ReviewedFile parser{.path = "src/parser.cpp",
                      .old_path = "src/parser.cpp",
                      .old_mode = "100644",
                      .new_mode = "100644",
                      .insertions = 12,
                      .deletions = 3,
                      .content_hash = id("11"),
                      .viewed = true,
                      .hunks = {}};
  parser.hunks.push_back(
      {.id = id("a1b2c3d4"),
       .lines = {10, 6, 10, 9},
       .mark = HunkMark{.hunk_id = id("a1b2c3d4"), .verdict = HunkVerdict::accept, .reason = "", .by = "ada", .at_ms = 1'700'000'001'000}});
  parser.hunks.push_back({.id = id("b2c3d4e5"), .lines = {40, 3, 43, 9}, .mark = {}});
  ReviewedFile script{.path = "tool.sh",
                      .old_path = "tool",
                      .change = FileChange::renamed,
                      .old_mode = "100644",
                      .new_mode = "100755",
                      .content_hash = id("22"),
                      .hunks = {}};
  script.hunks.push_back({.id = id("c3d4e5f6"), .kind = HunkKind::file, .lines = {}, .mark = {}});
  ReviewedFile latin{.path = kLatinPath,
                     .old_path = kLatinPath,
                     .change = FileChange::added,
                     .old_mode = "",
                     .new_mode = "100644",
                     .insertions = 1,
                     .content_hash = id("33"),
                     .hunks = {}};
  latin.hunks.push_back({.id = id("d4e5f6a7"),
                         .kind = HunkKind::file,
                         .lines = {},
                         .mark = HunkMark{.hunk_id = id("d4e5f6a7"),
                                          .verdict = HunkVerdict::reject,
                                          .reason = "Not needed.",
                                          .by = "bob",
                                          .at_ms = 1'700'000'002'000,
                                          .from_run = 1,
                                          .stale = true}});
  review.files = {std::move(parser), std::move(script), std::move(latin)};
  review.comments.push_back({.id = CommentId("01jd0000000000000000000c01"),
                             .author = "ada",
                             .path = "src/parser.cpp",
                             .start_line = 12,
                             .end_line = 13,
                             .quote = "int x;\nint y;\n",
                             .body = "One line will do.",
                             .suggestion = "int x, y;\n",
                             .created_ms = 1'700'000'003'000,
                             .updated_ms = 1'700'000'003'000});
  return review;
}

}  // namespace forge::test
