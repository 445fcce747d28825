#include "orchestrator/domain/review_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/text.h"
#include "orchestrator/domain/json_values.h"

namespace forge {
namespace {

using nlohmann::json;

/// The path as `key`, and where it had to be changed to fit, its bytes as `key`_base64.
void put_path(json& object, const std::string& key, const std::string& path) {
  CleanText clean = to_utf8(path);
  if (clean.replaced != 0) object[key + "_base64"] = base64(path);
  object[key] = std::move(clean.text);
}

json run_or_null(int run) { return run == 0 ? json(nullptr) : json(run); }

json file_json(const ReviewedFile& file) {
  json object{{"change", name_of(file.change)},          {"old_mode", text_or_null(file.old_mode)},
              {"new_mode", text_or_null(file.new_mode)}, {"binary", file.binary},
              {"insertions", file.insertions},           {"deletions", file.deletions},
              {"content_hash", file.content_hash},       {"viewed", file.viewed}};
  put_path(object, "path", file.path);
  put_path(object, "old_path", file.old_path);
  return object;
}

/// What counts stands in `verdict` and its neighbours; what was said about an earlier form of the hunk stands apart from it.
void put_mark(json& object, const std::optional<HunkMark>& mark) {
  const bool counts = mark && !mark->stale;
  object["verdict"] = counts ? json(name_of(mark->verdict)) : json(nullptr);
  object["reason"] = counts ? text_or_null(mark->reason) : json(nullptr);
  object["by"] = counts ? json(mark->by) : json(nullptr);
  object["at_ms"] = counts ? json(mark->at_ms) : json(nullptr);
  object["from_run"] = counts ? run_or_null(mark->from_run) : json(nullptr);
  object["stale"] = mark && mark->stale;
  if (mark && mark->stale)
    object["earlier"] = {{"verdict", name_of(mark->verdict)},
                         {"reason", text_or_null(mark->reason)},
                         {"by", mark->by},
                         {"at_ms", mark->at_ms},
                         {"run", run_or_null(mark->from_run)}};
}

json hunk_json(const ReviewedFile& file, const ReviewedHunk& hunk) {
  json object{{"hunk_id", hunk.id},
              {"kind", name_of(hunk.kind)},
              {"old_start", hunk.lines.old_start},
              {"old_lines", hunk.lines.old_lines},
              {"new_start", hunk.lines.new_start},
              {"new_lines", hunk.lines.new_lines}};
  put_path(object, "path", file.path);
  put_mark(object, hunk.mark);
  return object;
}

json counts_json(const ReviewCounts& counts) {
  return {{"accepted", counts.accepted}, {"rejected", counts.rejected}, {"undecided", counts.undecided}, {"stale", counts.stale}};
}

}  // namespace

std::optional<HunkVerdict> verdict_of(const ReviewedHunk& hunk) {
  return hunk.mark && !hunk.mark->stale ? std::optional(hunk.mark->verdict) : std::nullopt;
}

ReviewCounts count_hunks(const Review& review) {
  ReviewCounts counts;
  for (const ReviewedFile& file : review.files)
    for (const ReviewedHunk& hunk : file.hunks) {
      const auto verdict = verdict_of(hunk);
      ++(!verdict ? counts.undecided : *verdict == HunkVerdict::accept ? counts.accepted : counts.rejected);
      counts.stale += hunk.mark && hunk.mark->stale ? 1 : 0;
    }
  return counts;
}

json to_json(const ReviewComment& comment) {
  json object{{"id", comment.id.str()},
              {"author", comment.author},
              {"side", name_of(comment.side)},
              {"start_line", comment.start_line},
              {"end_line", comment.end_line},
              {"quote", comment.quote},
              {"body", comment.body},
              {"suggestion", comment.suggestion ? json(*comment.suggestion) : json(nullptr)},
              {"accepted", comment.accepted},
              {"draft", comment.draft},
              {"stale", comment.stale},
              {"from_run", run_or_null(comment.from_run)},
              {"created_ms", comment.created_ms},
              {"updated_ms", comment.updated_ms}};
  put_path(object, "path", comment.path);
  return object;
}

json to_json(const AppliedReview& applied) {
  return {{"commit", applied.commit},
          {"branch", applied.branch},
          {"accepted", applied.accepted},
          {"rejected", applied.rejected},
          {"undecided", applied.undecided},
          {"pushed", applied.pushed},
          {"by", applied.by},
          {"at_ms", applied.at_ms}};
}

json to_json(const Review& review) {
  json files = json::array();
  json hunks = json::array();
  json comments = json::array();
  for (const ReviewedFile& file : review.files) {
    files.push_back(file_json(file));
    for (const ReviewedHunk& hunk : file.hunks) hunks.push_back(hunk_json(file, hunk));
  }
  for (const ReviewComment& comment : review.comments) comments.push_back(to_json(comment));
  // Members are moved into the object: an initializer list would copy the lists.
  json object{{"job", review.job.str()},
              {"run", review.run},
              {"revision", review.revision},
              {"status", name_of(review.status)},
              {"summary", review.summary},
              {"counts", counts_json(count_hunks(review))},
              {"applied", review.applied ? to_json(*review.applied) : json(nullptr)}};
  object["files"] = std::move(files);
  object["hunks"] = std::move(hunks);
  object["comments"] = std::move(comments);
  return object;
}

}  // namespace forge
