#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/domain/job_json.h"
#include "orchestrator/domain/review_checks.h"
#include "orchestrator/domain/review_json.h"
#include "orchestrator/http/body.h"
#include "orchestrator/http/routes.h"

namespace forge::http {
namespace {

using nlohmann::json;

/// Largest body of an apply or a send-back: its one long text may be escaped to six times its size.
constexpr std::size_t kActBodyBytes = 512 << 10;
static_assert(kActBodyBytes > 6 * kCommitMessageBytes && kActBodyBytes > 6 * kNoteBytes);

/// The tag names the revision for If-Match. It is no reason to answer 304: marks of what was viewed and drafts, which are the reader's own,
/// change without it.
Response review_answer(const Review& review) {
  return json_answer(to_json(review)).with("ETag", '"' + std::to_string(review.revision) + '"');
}

/// The revision that If-Match names, with its quotes or without; nothing when it is not there.
std::optional<std::int64_t> matched_revision(const Request& request) {
  const auto header = request.header("if-match");
  if (!header) return {};
  std::string_view text = *header;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::int64_t revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error != std::errc() || end != text.data() + text.size() || revision < 0)
    throw bad_input("If-Match", "the header If-Match names no revision", "one revision, as the ETag of the review has it");
  return revision;
}

const std::string& job_of(const Request& request) { return request.param("id"); }
CommentId comment_of(const Request& request) { return CommentId(request.param("comment")); }

Response show_review(ReviewControl& reviews, const Request& request, const Stop& stop) {
  return review_answer(reviews.review(*request.principal, job_of(request), run_number(request), stop));
}

Response edit_review(ReviewControl& reviews, const Request& request, const Stop& stop) {
  const ReviewEdit edit = review_edit_from_json(json_body(request));
  const auto revision = matched_revision(request);
  if (!revision && is_shared(edit))
    throw bad_input("If-Match", "the header If-Match is missing", "the revision that was read: If-Match: \"3\"");
  return review_answer(reviews.edit(*request.principal, job_of(request), run_number(request), revision, edit, stop));
}

Response add_comment(ReviewControl& reviews, const Request& request, const Stop& stop) {
  const NewComment comment = new_comment_from_json(json_body(request));
  return json_answer(to_json(reviews.add_comment(*request.principal, job_of(request), run_number(request), comment, stop)), 201);
}

Response edit_comment(ReviewControl& reviews, const Request& request, const Stop&) {
  const CommentEdit edit = comment_edit_from_json(json_body(request));
  return json_answer(to_json(reviews.edit_comment(*request.principal, job_of(request), run_number(request), comment_of(request), edit)));
}

Response delete_comment(ReviewControl& reviews, const Request& request, const Stop&) {
  reviews.delete_comment(*request.principal, job_of(request), run_number(request), comment_of(request));
  return httpd::no_content();
}

// Keys go on to the engine, which remembers them across a restart: a commit was made or a run was queued.
Response apply_review(ReviewControl& reviews, const Request& request, const Stop& stop) {
  ApplyRequest wanted = apply_request_from_json(json_body(request));
  wanted.key = idempotency_key(request).value_or("");
  return json_answer(to_json(reviews.apply(*request.principal, job_of(request), run_number(request), wanted, stop)), 201);
}

Response send_back(ReviewControl& reviews, const Request& request, const Stop& stop) {
  SendBackRequest wanted = send_back_request_from_json(json_body(request));
  wanted.key = idempotency_key(request).value_or("");
  const Run run = reviews.send_back(*request.principal, job_of(request), run_number(request), wanted, stop);
  return json_answer({{"run", to_json(run)}}, 201);
}

Response dismiss_review(ReviewControl& reviews, const Request& request, const Stop& stop) {
  const std::int64_t revision = revision_from_json(json_body(request));
  return review_answer(reviews.dismiss(*request.principal, job_of(request), run_number(request), revision, stop));
}

using Handle = Response (*)(ReviewControl&, const Request&, const Stop&);

/// One route: who may, what it does, and the largest body.
struct ReviewRoute {
  Method method;
  const char* path;  ///< below the job or the run
  Role role;
  Handle handle;
  std::size_t body_bytes;
};

}  // namespace

void add_review_routes(httpd::Router& router, Services& services) {
  ReviewControl& reviews = services.parts.reviews;
  // A comment holds three texts of 64 KiB, an edit thousands of verdicts.
  const std::size_t large = services.options.max_body_bytes;
  const ReviewRoute routes[] = {
      {Method::get, "/review", Role::viewer, show_review, 0},
      {Method::patch, "/review", Role::reviewer, edit_review, large},
      {Method::post, "/review/comments", Role::reviewer, add_comment, large},
      {Method::patch, "/review/comments/{comment}", Role::reviewer, edit_comment, large},
      {Method::delete_, "/review/comments/{comment}", Role::reviewer, delete_comment, 0},
      {Method::post, "/review/apply", Role::operator_, apply_review, kActBodyBytes},
      {Method::post, "/review/send-back", Role::operator_, send_back, kActBodyBytes},
      {Method::post, "/review/dismiss", Role::reviewer, dismiss_review, kSmallBodyBytes},
  };
  for (const std::string run : {"/api/v1/jobs/{id}", "/api/v1/jobs/{id}/runs/{n}"})
    for (const ReviewRoute& route : routes)
      router.add({.method = route.method,
                  .pattern = run + route.path,
                  .access = Access::at_least(route.role),
                  .handler = [&reviews, handle = route.handle](const Request& request,
                                                               const Stop& stop) { return handle(reviews, request, stop); },
                  .body_bytes = route.body_bytes});
}

}  // namespace forge::http
