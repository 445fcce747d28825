#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/from_base64.h"
#include "orchestrator/domain/json_values.h"
#include "orchestrator/domain/review_json.h"

namespace forge {
namespace {

using nlohmann::json;

/// The bytes of a path, which `key`_base64 holds where `key` cannot.
std::string path_at(const json& object, const std::string& key) {
  const auto encoded = object.find(key + "_base64");
  if (encoded == object.end()) return object.at(key).get<std::string>();
  const auto path = from_base64(encoded->get<std::string>());
  if (!path) throw Error(ErrorCode::corrupt, "the server's " + key + "_base64 is not base64");
  return *path;
}

int run_or_zero(const json& object, const char* key) { return object.at(key).is_null() ? 0 : object.at(key).get<int>(); }

ReviewedFile read_file(const json& value) {
  return {.path = path_at(value, "path"),
          .old_path = path_at(value, "old_path"),
          .change = named(value, "change", parse_file_change),
          .old_mode = text_or_empty(value, "old_mode"),
          .new_mode = text_or_empty(value, "new_mode"),
          .binary = value.at("binary").get<bool>(),
          .insertions = value.at("insertions").get<std::int64_t>(),
          .deletions = value.at("deletions").get<std::int64_t>(),
          .content_hash = value.at("content_hash").get<std::string>(),
          .viewed = value.at("viewed").get<bool>(),
          .hunks = {}};
}

HunkMark read_mark(const json& value, const std::string& hunk, const char* run_key) {
  return {.hunk_id = hunk,
          .verdict = named(value, "verdict", parse_hunk_verdict),
          .reason = text_or_empty(value, "reason"),
          .by = value.at("by").get<std::string>(),
          .at_ms = value.at("at_ms").get<std::int64_t>(),
          .from_run = run_or_zero(value, run_key),
          .stale = false};
}

ReviewedHunk read_hunk(const json& value) {
  ReviewedHunk hunk{.id = value.at("hunk_id").get<std::string>(),
                    .kind = named(value, "kind", parse_hunk_kind),
                    .lines = {.old_start = value.at("old_start").get<int>(),
                              .old_lines = value.at("old_lines").get<int>(),
                              .new_start = value.at("new_start").get<int>(),
                              .new_lines = value.at("new_lines").get<int>()},
                    .mark = {}};
  if (!value.at("verdict").is_null()) hunk.mark = read_mark(value, hunk.id, "from_run");
  if (value.at("stale").get<bool>()) {
    hunk.mark = read_mark(value.at("earlier"), hunk.id, "run");
    hunk.mark->stale = true;
  }
  return hunk;
}

ReviewComment read_comment(const json& value) {
  return {.id = CommentId(value.at("id").get<std::string>()),
          .author = value.at("author").get<std::string>(),
          .path = path_at(value, "path"),
          .side = named(value, "side", parse_diff_side),
          .start_line = value.at("start_line").get<int>(),
          .end_line = value.at("end_line").get<int>(),
          .quote = value.at("quote").get<std::string>(),
          .body = value.at("body").get<std::string>(),
          .suggestion = value.at("suggestion").is_null() ? std::nullopt : std::optional(value.at("suggestion").get<std::string>()),
          .accepted = value.at("accepted").get<bool>(),
          .draft = value.at("draft").get<bool>(),
          .stale = value.at("stale").get<bool>(),
          .from_run = run_or_zero(value, "from_run"),
          .created_ms = value.at("created_ms").get<std::int64_t>(),
          .updated_ms = value.at("updated_ms").get<std::int64_t>()};
}

AppliedReview read_applied(const json& value) {
  return {.commit = value.at("commit").get<std::string>(),
          .branch = value.at("branch").get<std::string>(),
          .accepted = value.at("accepted").get<std::int64_t>(),
          .rejected = value.at("rejected").get<std::int64_t>(),
          .undecided = value.at("undecided").get<std::int64_t>(),
          .pushed = value.at("pushed").get<bool>(),
          .by = value.at("by").get<std::string>(),
          .at_ms = value.at("at_ms").get<std::int64_t>()};
}

/// Each hunk to its file. Both lists are in the order of the diff, so one step through the files finds them all.
void deal_hunks(const json& hunks, std::vector<ReviewedFile>& files) {
  auto file = files.begin();
  for (const json& value : hunks) {
    const std::string path = path_at(value, "path");
    while (file != files.end() && file->path != path) ++file;
    if (file == files.end()) throw Error(ErrorCode::corrupt, "the server's review has a hunk of a file that it does not name");
    file->hunks.push_back(read_hunk(value));
  }
}

Review read_review(const json& value) {
  Review review;
  review.job = JobId(value.at("job").get<std::string>());
  review.run = value.at("run").get<int>();
  review.revision = value.at("revision").get<std::int64_t>();
  review.status = named(value, "status", parse_review_status);
  review.summary = value.at("summary").get<std::string>();
  for (const json& file : value.at("files")) review.files.push_back(read_file(file));
  deal_hunks(value.at("hunks"), review.files);
  for (const json& comment : value.at("comments")) review.comments.push_back(read_comment(comment));
  if (!value.at("applied").is_null()) review.applied = read_applied(value.at("applied"));
  return review;
}

template <typename Read>
auto understood(const char* what, const json& value, Read&& read) {
  try {
    return read(value);
  } catch (const json::exception& e) {
    throw not_understood(what, e);
  }
}

}  // namespace

Review review_from_json(const json& value) { return understood("review", value, read_review); }
ReviewComment review_comment_from_json(const json& value) { return understood("comment", value, read_comment); }
AppliedReview applied_review_from_json(const json& value) { return understood("result of the apply", value, read_applied); }

}  // namespace forge
