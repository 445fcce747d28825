#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "orchestrator/domain/review_control.h"

/// The JSON of reviews, as docs/api.md shows it: what the API answers, what it takes, and the way back for clients. A path that is not
/// UTF-8 stands there with replacements, and `path_base64` beside it holds its bytes.
namespace forge {

/// The hunks of all files stand in one list, in the order of the diff.
nlohmann::json to_json(const Review& review);
nlohmann::json to_json(const ReviewComment& comment);
nlohmann::json to_json(const AppliedReview& applied);

/// How many hunks of a review are in which way; `stale` ones are undecided, too.
struct ReviewCounts {
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  std::int64_t undecided = 0;
  std::int64_t stale = 0;
};
ReviewCounts count_hunks(const Review& review);
/// The verdict that counts: nothing for one that is stale.
std::optional<HunkVerdict> verdict_of(const ReviewedHunk& hunk);

/// Bodies of requests. Unknown keys are refused. They throw bad_input with the JSON path of what is wrong ("verdicts[3].reason"): types,
/// ranges, caps, NUL bytes. Whether what is named exists is the engine's to say.
ReviewEdit review_edit_from_json(const nlohmann::json& body);
NewComment new_comment_from_json(const nlohmann::json& body);
CommentEdit comment_edit_from_json(const nlohmann::json& body);
/// `key` is left empty: it comes as a header. The same for SendBackRequest.
ApplyRequest apply_request_from_json(const nlohmann::json& body);
SendBackRequest send_back_request_from_json(const nlohmann::json& body);
/// {"revision": ...}
std::int64_t revision_from_json(const nlohmann::json& body);
/// The path that a request names by `path` or by `path_base64`. Throws bad_input for none, both, or what is no base64.
std::string named_path(const std::optional<std::string>& path, const std::optional<std::string>& path_base64);

/// Bodies that these functions read.
nlohmann::json to_json(const ReviewEdit& edit);
nlohmann::json to_json(const NewComment& comment);
nlohmann::json to_json(const ApplyRequest& request);
nlohmann::json to_json(const SendBackRequest& request);

/// The way back. Throws corrupt when the server's answer is not of the shape that to_json makes; unknown keys pass.
Review review_from_json(const nlohmann::json& value);
ReviewComment review_comment_from_json(const nlohmann::json& value);
AppliedReview applied_review_from_json(const nlohmann::json& value);

}  // namespace forge
