#pragma once

#include <string>
#include <vector>

#include "tests/unit/store/store_fixture.h"

namespace forge::store {

/// A store with a run that left changes, and its review.
template <typename Backend>
class ReviewTest : public StoreTest<Backend> {
 protected:
  ReviewTest() { reviews().open_review(run(), {}); }

  ReviewStore& reviews() { return this->store(); }
  const RunId& run() const { return lease_.run; }
  const JobId& job() const { return lease_.job; }

  Lease ended_with_changes() {
    Lease lease = this->claimed();
    EXPECT_TRUE(this->store().end_run(lease, {.reason = Reason::completed, .head_commit = "c1"}));
    return lease;
  }

  ReviewRow review() { return reviews().review(run()).value(); }
  std::int64_t revision() { return review().revision; }
  ReviewStatus status() { return this->store().run(job(), 1)->review; }
  /// At the present revision.
  std::int64_t change(const ReviewChange& change) { return reviews().change_review(run(), revision(), change); }
  std::vector<std::string> marked() {
    std::vector<std::string> ids;
    for (const HunkMark& mark : review().marks) ids.push_back(mark.hunk_id);
    return ids;
  }

  static HunkMark mark(const std::string& hunk, HunkVerdict verdict = HunkVerdict::accept, const std::string& reason = {}) {
    return {.hunk_id = hunk, .verdict = verdict, .reason = reason};
  }
  static ReviewChange marking(const std::string& hunk, const std::string& by = "anna") { return {.by = by, .marks = {mark(hunk)}}; }

  static ReviewComment remark(const std::string& body, const std::string& author = "anna") {
    return {.author = author, .path = "a.txt", .quote = "old line\n", .body = body};
  }
  ReviewComment comment(const std::string& body, const std::string& author = "anna") {
    return reviews().insert_comment(run(), remark(body, author));
  }
  ReviewComment draft(const std::string& body, const std::string& author = "anna") {
    ReviewComment comment = remark(body, author);
    comment.draft = true;
    return reviews().insert_comment(run(), comment);
  }
  ReviewComment suggest(const std::string& lines, const std::string& author = "anna") {
    ReviewComment comment = remark("better:", author);
    comment.suggestion = lines;
    return reviews().insert_comment(run(), comment);
  }

  ApplyRow begin(const std::string& key = {}) {
    return reviews().begin_apply(run(), revision(), key, {.hunks = {"h1"}, .message = "apply"},
                                 {.branch = "forge/x-1-accepted", .by = "anna"});
  }
  Run send_back(const std::string& key = {}) {
    return reviews().send_back(run(), revision(), key, "anna",
                               {.kind = RunKind::follow_up, .from_run = 1, .note = "again", .brief = "again, please"});
  }

 private:
  Lease lease_ = ended_with_changes();
};

/// The hint of what `body` throws.
template <typename Body>
std::string hint_of(Body&& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.hint();
  }
  return "no error";
}

}  // namespace forge::store
