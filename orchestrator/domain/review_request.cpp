#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/from_base64.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/text.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/domain/review_checks.h"
#include "orchestrator/domain/review_json.h"
#include "orchestrator/domain/words.h"

namespace forge {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostRevision = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostLine = std::numeric_limits<int>::max();

std::optional<std::string> words(JsonReader& reader, const char* key, std::size_t most_bytes) {
  auto text = reader.optional_text(key);
  if (text) check_words(reader.path_of(key), *text, most_bytes);
  return text;
}

/// A list of objects, each given to `read` with the reader of its fields.
template <typename Read>
void read_objects(JsonReader& reader, const char* key, Read&& read) {
  const json* list = reader.find(key);
  if (list == nullptr) return;
  const std::string path = reader.path_of(key);
  if (!list->is_array()) throw bad_input(path, "expected an array of objects");
  if (list->size() > kMarksPerEdit) throw bad_input(path, fmt::format("expected at most {} items, found {}", kMarksPerEdit, list->size()));
  for (std::size_t i = 0; i < list->size(); ++i) {
    JsonReader item((*list)[i], fmt::format("{}[{}]", path, i));
    read(item, (*list)[i]);
    item.finish();
  }
}

bool needed_flag(JsonReader& reader, const char* key) {
  const auto flag = reader.optional_flag(key);
  if (!flag) throw bad_input(reader.path_of(key), "expected true or false, found nothing");
  return *flag;
}

template <typename Parse>
auto parsed_name(JsonReader& reader, const char* key, const char* choices, Parse&& parse) {
  const auto value = parse(reader.text(key));
  if (!value) throw bad_input(reader.path_of(key), fmt::format("expected {}", choices));
  return *value;
}

/// The reader's path goes before the field of the error.
std::string read_named_path(JsonReader& reader) {
  const auto path = reader.optional_text("path");
  const auto encoded = reader.optional_text("path_base64");
  try {
    return named_path(path, encoded);
  } catch (const Error& error) {
    throw bad_input(reader.path_of(error.field()), error.client_text(), error.hint());
  }
}

/// null takes the verdict back; leaving it out would be a guess at the same.
ReviewEdit::Mark read_edit_mark(JsonReader& reader, const json& value) {
  ReviewEdit::Mark mark;
  mark.hunk_id = reader.text("hunk_id");
  if (!value.contains("verdict")) throw bad_input(reader.path_of("verdict"), "expected accept, reject or null, found nothing");
  if (reader.find("verdict") != nullptr) mark.verdict = parsed_name(reader, "verdict", "accept, reject or null", parse_hunk_verdict);
  mark.reason = words(reader, "reason", kReasonBytes).value_or("");
  return mark;
}

json path_json(const std::string& path) { return is_utf8(path) ? json{{"path", path}} : json{{"path_base64", base64(path)}}; }

}  // namespace

std::string named_path(const std::optional<std::string>& path, const std::optional<std::string>& path_base64) {
  if (path && path_base64) throw bad_input("path_base64", "path and path_base64 say the same thing", "give one of them");
  std::optional<std::string> found = path_base64 ? from_base64(*path_base64) : path;
  if (path_base64 && !found) throw bad_input("path_base64", "is not base64", "with padding; in a query '+' is written %2B");
  if (!found || found->empty()) throw bad_input("path", "names no file", "its path, or path_base64 for one that is not UTF-8");
  if (found->find('\0') != std::string::npos) throw bad_input(path_base64 ? "path_base64" : "path", "holds a NUL byte");
  return std::move(*found);
}

ReviewEdit review_edit_from_json(const json& body) {
  ReviewEdit edit;
  JsonReader reader(body);
  edit.summary = words(reader, "summary", kReviewSummaryBytes);
  read_objects(reader, "verdicts", [&](JsonReader& item, const json& value) { edit.marks.push_back(read_edit_mark(item, value)); });
  read_objects(reader, "suggestions", [&](JsonReader& item, const json&) {
    CommentId comment(item.text("comment"));
    edit.suggestions.push_back({.comment = std::move(comment), .accepted = needed_flag(item, "accepted")});
  });
  read_objects(reader, "viewed", [&](JsonReader& item, const json&) {
    std::string path = read_named_path(item);
    edit.viewed.push_back({.path = std::move(path), .viewed = needed_flag(item, "viewed")});
  });
  edit.send_drafts = reader.optional_flag("send_drafts").value_or(false);
  reader.finish();
  return edit;
}

NewComment new_comment_from_json(const json& body) {
  NewComment comment;
  JsonReader reader(body);
  comment.path = read_named_path(reader);
  if (reader.find("side") != nullptr) comment.side = parsed_name(reader, "side", "base or head", parse_diff_side);
  comment.start_line = static_cast<int>(reader.integer("start_line", 1, kMostLine));
  comment.end_line = static_cast<int>(reader.optional_integer("end_line", comment.start_line, kMostLine).value_or(comment.start_line));
  comment.quote = reader.optional_text("quote").value_or("");
  comment.body = reader.optional_text("body").value_or("");
  comment.suggestion = reader.optional_text("suggestion");
  comment.draft = reader.optional_flag("draft").value_or(false);
  reader.finish();
  check_comment(comment);
  return comment;
}

CommentEdit comment_edit_from_json(const json& body) {
  CommentEdit edit;
  JsonReader reader(body);
  edit.body = words(reader, "body", kCommentBytes);
  const auto suggestion = words(reader, "suggestion", kCommentBytes);
  if (body.contains("suggestion")) edit.suggestion.emplace(suggestion);  // null takes it away
  edit.draft = reader.optional_flag("draft");
  reader.finish();
  if (edit.draft.value_or(false)) throw bad_input("draft", "what was sent cannot be taken back", "false sends it");
  if (!edit.body && !edit.suggestion && !edit.draft) throw bad_input("", "nothing is to be changed", "body, suggestion or draft");
  return edit;
}

ApplyRequest apply_request_from_json(const json& body) {
  ApplyRequest request;
  JsonReader reader(body);
  request.revision = reader.integer("revision", 0, kMostRevision);
  request.message = words(reader, "message", kCommitMessageBytes).value_or("");
  request.push = reader.optional_flag("push").value_or(true);
  request.confirm_undecided = reader.optional_flag("confirm_undecided").value_or(false);
  reader.finish();
  return request;
}

SendBackRequest send_back_request_from_json(const json& body) {
  SendBackRequest request;
  JsonReader reader(body);
  request.revision = reader.integer("revision", 0, kMostRevision);
  request.note = words(reader, "note", kNoteBytes).value_or("");
  reader.finish();
  return request;
}

std::int64_t revision_from_json(const json& body) {
  JsonReader reader(body);
  const std::int64_t revision = reader.integer("revision", 0, kMostRevision);
  reader.finish();
  return revision;
}

json to_json(const ReviewEdit& edit) {
  json body = json::object();
  if (edit.summary) body["summary"] = *edit.summary;
  for (const ReviewEdit::Mark& mark : edit.marks) {
    json item{{"hunk_id", mark.hunk_id}, {"verdict", mark.verdict ? json(name_of(*mark.verdict)) : json(nullptr)}};
    if (!mark.reason.empty()) item["reason"] = mark.reason;
    body["verdicts"].push_back(std::move(item));
  }
  for (const ReviewEdit::Suggestion& suggestion : edit.suggestions)
    body["suggestions"].push_back({{"comment", suggestion.comment.str()}, {"accepted", suggestion.accepted}});
  for (const ReviewEdit::Viewed& viewed : edit.viewed) {
    json item = path_json(viewed.path);
    item["viewed"] = viewed.viewed;
    body["viewed"].push_back(std::move(item));
  }
  if (edit.send_drafts) body["send_drafts"] = true;
  return body;
}

json to_json(const NewComment& comment) {
  json body = path_json(comment.path);
  body["side"] = name_of(comment.side);
  body["start_line"] = comment.start_line;
  body["end_line"] = comment.end_line;
  if (!comment.quote.empty()) body["quote"] = comment.quote;
  body["body"] = comment.body;
  if (comment.suggestion) body["suggestion"] = *comment.suggestion;
  body["draft"] = comment.draft;
  return body;
}

json to_json(const ApplyRequest& request) {
  json body{{"revision", request.revision}, {"push", request.push}, {"confirm_undecided", request.confirm_undecided}};
  if (!request.message.empty()) body["message"] = request.message;
  return body;
}

json to_json(const SendBackRequest& request) {
  json body{{"revision", request.revision}};
  if (!request.note.empty()) body["note"] = request.note;
  return body;
}

}  // namespace forge
