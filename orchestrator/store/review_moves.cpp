#include "orchestrator/store/review_moves.h"

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"
#include "orchestrator/store/event_text.h"
#include "orchestrator/store/job_rows.h"

namespace forge::store {
namespace {

void require_size(const char* field, std::size_t size) {
  if (size <= kMarksPerEdit) return;
  throw public_failure(ErrorCode::limit_exceeded,
                       "one change holds at most " + std::to_string(kMarksPerEdit) + " " + field + ", not " + std::to_string(size))
      .with_hint("send them in several changes");
}

void require_room(std::size_t comments) {
  if (comments > kCommentsPerReview)
    throw public_failure(ErrorCode::limit_exceeded, "a review holds at most " + std::to_string(kCommentsPerReview) + " comments");
}

/// Something in it that others see.
bool is_shared(const ReviewChange& change) {
  return change.summary || !change.marks.empty() || !change.unmarked.empty() || !change.suggestions.empty() || change.send_drafts;
}

Error no_such_comment(const CommentId& id) {
  return public_failure(ErrorCode::not_found, "the review has no comment '" + to_utf8(id.str()).text + "'");
}

}  // namespace

Error changed_meanwhile(std::int64_t now) {
  return public_failure(ErrorCode::precondition_failed, "somebody changed the review meanwhile")
      .with_hint("it is at revision " + std::to_string(now) + " now: read it again, then repeat the change");
}

void require_revision(const ReviewHead& head, std::int64_t revision) {
  if (revision != head.revision) throw changed_meanwhile(head.revision);
}

void require_open(const ReviewHead& head) {
  if (head.status == ReviewStatus::changes_requested)
    throw public_failure(ErrorCode::conflict, "the review was sent back").with_hint("review the run that followed");
  if (head.status == ReviewStatus::dismissed) throw public_failure(ErrorCode::conflict, "the review was dismissed");
}

std::optional<std::string> ReviewMoves::clean(const std::optional<std::string>& text) const {
  return text ? std::optional(clean_text(*text, redactor_)) : std::nullopt;
}

std::int64_t ReviewMoves::bump(const RunId& run) {
  Query query = scope_.main.query("UPDATE reviews SET revision = revision + 1, updated_ms = :now WHERE run_id = :run RETURNING revision");
  if (!query.bind(":now", scope_.now_ms).bind(":run", run.str()).step()) throw Error(ErrorCode::internal, "no review to change");
  return query.integer("revision");
}

void ReviewMoves::set_status(const RunId& run, ReviewStatus status) {
  scope_.main.query("UPDATE runs SET review = :review WHERE id = :run").bind(":review", name_of(status)).bind(":run", run.str()).run();
}

bool ReviewMoves::open(const RunId& run, const ReviewBeginning& beginning) {
  require_room(beginning.comments.size());
  read_run(scope_.main, run);
  const int made = scope_.main
                       .query(R"sql(
                           INSERT INTO reviews (run_id, created_ms, updated_ms) VALUES (:run, :now, :now) ON CONFLICT DO NOTHING
                       )sql")
                       .bind(":run", run.str())
                       .bind(":now", scope_.now_ms)
                       .run();
  if (made == 0) return false;
  for (const HunkMark& mark : beginning.marks) set_mark(run, mark);
  for (ReviewComment comment : beginning.comments) write_comment(run, comment);
  for (const auto& [principal, mark] : beginning.viewed) set_viewed(run, principal, mark);
  return true;
}

std::int64_t ReviewMoves::change(const RunId& run, std::optional<std::int64_t> revision, const ReviewChange& change) {
  require_size("marks", change.marks.size() + change.unmarked.size());
  require_size("suggestions", change.suggestions.size());
  require_size("viewed marks", change.viewed.size() + change.not_viewed.size());
  const ReviewHead head = read_review_head(scope_.main, run);
  if (revision) require_revision(head, *revision);
  if (!revision && is_shared(change)) throw bad_input("revision", "is missing", "the revision of the review that the change is made to");
  require_open(head);

  if (change.summary)
    scope_.main.query("UPDATE reviews SET summary = :summary WHERE run_id = :run")
        .bind(":summary", clean_text(*change.summary, redactor_))
        .bind(":run", run.str())
        .run();
  for (const std::string& hunk : change.unmarked) remove_mark(run, hunk);
  for (const HunkMark& mark : change.marks)
    set_mark(run, {.hunk_id = mark.hunk_id, .verdict = mark.verdict, .reason = mark.reason, .by = change.by, .at_ms = scope_.now_ms});
  for (const auto& suggestion : change.suggestions) set_accepted(run, suggestion, change.by);
  for (const std::string& path : change.not_viewed) remove_viewed(run, change.by, path);
  for (const ViewedMark& mark : change.viewed) set_viewed(run, change.by, mark);
  if (change.send_drafts) send_drafts(run, change.by);
  return is_shared(change) ? bump(run) : head.revision;
}

void ReviewMoves::send_drafts(const RunId& run, const std::string& by) {
  scope_.main.query("UPDATE review_comments SET draft = 0, updated_ms = :now WHERE run_id = :run AND author = :by AND draft = 1")
      .bind(":now", scope_.now_ms)
      .bind(":run", run.str())
      .bind(":by", by)
      .run();
}

void ReviewMoves::set_mark(const RunId& run, const HunkMark& mark) {
  scope_.main
      .query(R"sql(
          INSERT OR REPLACE INTO review_marks (run_id, hunk_id, verdict, reason, by_name, at_ms, from_run, stale)
          VALUES (:run, :hunk, :verdict, :reason, :by, :at, :from_run, :stale)
      )sql")
      .bind(":run", run.str())
      .bind(":hunk", mark.hunk_id)
      .bind(":verdict", name_of(mark.verdict))
      .bind(":reason", clean_text(mark.reason, redactor_))
      .bind(":by", mark.by)
      .bind(":at", mark.at_ms)
      .bind(":from_run", mark.from_run)
      .bind(":stale", mark.stale)
      .run();
}

void ReviewMoves::remove_mark(const RunId& run, const std::string& hunk) {
  scope_.main.query("DELETE FROM review_marks WHERE run_id = :run AND hunk_id = :hunk").bind(":run", run.str()).bind(":hunk", hunk).run();
}

void ReviewMoves::set_accepted(const RunId& run, const ReviewChange::Suggestion& suggestion, const std::string& by) {
  const int found = scope_.main
                        .query(R"sql(
                            UPDATE review_comments SET accepted = :accepted
                             WHERE id = :id AND run_id = :run AND suggestion IS NOT NULL AND (draft = 0 OR author = :by)
                        )sql")
                        .bind(":accepted", suggestion.accepted)
                        .bind(":id", suggestion.comment.str())
                        .bind(":run", run.str())
                        .bind(":by", by)
                        .run();
  if (found == 0)
    throw bad_input("suggestions", "no comment '" + to_utf8(suggestion.comment.str()).text + "' of the review has a suggestion");
}

void ReviewMoves::set_viewed(const RunId& run, const std::string& principal, const ViewedMark& mark) {
  scope_.main.query("INSERT OR REPLACE INTO review_viewed (run_id, principal, path, content_hash) VALUES (:run, :principal, :path, :hash)")
      .bind(":run", run.str())
      .bind(":principal", principal)
      .bind_bytes(":path", mark.path)
      .bind(":hash", mark.content_hash)
      .run();
}

void ReviewMoves::remove_viewed(const RunId& run, const std::string& principal, const std::string& path) {
  scope_.main.query("DELETE FROM review_viewed WHERE run_id = :run AND principal = :principal AND path = :path")
      .bind(":run", run.str())
      .bind(":principal", principal)
      .bind_bytes(":path", path)
      .run();
}

void ReviewMoves::write_comment(const RunId& run, ReviewComment& comment) {
  comment.id = new_id<CommentId>(scope_.now_ms);
  comment.body = clean_text(comment.body, redactor_);
  comment.suggestion = clean(comment.suggestion);
  Query insert = scope_.main.query(R"sql(
      INSERT INTO review_comments (id, run_id, author, path, side, start_line, end_line, quote, body, suggestion, accepted, draft, stale,
                                   from_run, created_ms, updated_ms)
      VALUES (:id, :run, :author, :path, :side, :start, :end, :quote, :body, :suggestion, :accepted, :draft, :stale, :from_run,
              :created, :updated)
  )sql");
  insert.bind(":id", comment.id.str()).bind(":run", run.str()).bind(":author", comment.author);
  insert.bind_bytes(":path", comment.path).bind(":side", name_of(comment.side));
  insert.bind(":start", comment.start_line).bind(":end", comment.end_line);
  insert.bind_bytes(":quote", comment.quote).bind(":body", comment.body).bind(":suggestion", comment.suggestion);
  insert.bind(":accepted", comment.accepted).bind(":draft", comment.draft).bind(":stale", comment.stale);
  insert.bind(":from_run", comment.from_run).bind(":created", comment.created_ms).bind(":updated", comment.updated_ms);
  insert.run();
}

ReviewComment ReviewMoves::insert_comment(const RunId& run, ReviewComment comment) {
  read_review_head(scope_.main, run);
  require_room(static_cast<std::size_t>(count_comments(scope_.main, run)) + 1);
  comment.created_ms = scope_.now_ms;
  comment.updated_ms = scope_.now_ms;
  write_comment(run, comment);
  if (!comment.draft) bump(run);
  return comment;
}

ReviewComment ReviewMoves::own_comment(const RunId& run, const CommentId& id, const std::string& by) {
  auto comment = find_comment(scope_.main, run, id);
  if (!comment || (comment->draft && comment->author != by)) throw no_such_comment(id);
  if (comment->author != by) throw public_failure(ErrorCode::permission_denied, "the comment is somebody else's");
  return std::move(*comment);
}

ReviewComment ReviewMoves::update_comment(const RunId& run, const ReviewComment& comment, const std::string& by) {
  ReviewComment stored = own_comment(run, comment.id, by);
  const auto suggestion = clean(comment.suggestion);
  // Who accepted it meant these lines and no others.
  stored.accepted = stored.accepted && suggestion == stored.suggestion;
  stored.suggestion = suggestion;
  stored.body = clean_text(comment.body, redactor_);
  stored.draft = stored.draft && comment.draft;
  stored.updated_ms = scope_.now_ms;
  scope_.main
      .query(R"sql(
          UPDATE review_comments SET body = :body, suggestion = :suggestion, accepted = :accepted, draft = :draft, updated_ms = :now
           WHERE id = :id
      )sql")
      .bind(":body", stored.body)
      .bind(":suggestion", stored.suggestion)
      .bind(":accepted", stored.accepted)
      .bind(":draft", stored.draft)
      .bind(":now", stored.updated_ms)
      .bind(":id", stored.id.str())
      .run();
  if (!stored.draft) bump(run);
  return stored;
}

void ReviewMoves::delete_comment(const RunId& run, const CommentId& comment, const std::string& by) {
  const ReviewComment stored = own_comment(run, comment, by);
  scope_.main.query("DELETE FROM review_comments WHERE id = :id").bind(":id", stored.id.str()).run();
  if (!stored.draft) bump(run);
}

}  // namespace forge::store
