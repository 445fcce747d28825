#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/ids.h"

/// The words of a review: what changed, hunk by hunk, and what people say about it. docs/api.md, Review.
namespace forge {

using CommentId = Id<struct CommentTag>;

enum class HunkVerdict { accept, reject };
std::string_view name_of(HunkVerdict verdict);
std::optional<HunkVerdict> parse_hunk_verdict(std::string_view name);

/// `text`: some lines of a file. `file`: what is no lines and is taken or left as a whole: a changed mode, name, link or binary content, a
/// file that came or went. A renamed and edited file has one `file` hunk for its name and mode, and its `text` hunks.
enum class HunkKind { text, file };
std::string_view name_of(HunkKind kind);
std::optional<HunkKind> parse_hunk_kind(std::string_view name);

enum class FileChange { added, deleted, modified, renamed, retyped };
std::string_view name_of(FileChange change);
std::optional<FileChange> parse_file_change(std::string_view name);

enum class DiffSide { base, head };
std::string_view name_of(DiffSide side);
std::optional<DiffSide> parse_diff_side(std::string_view name);

/// Lines count from 1; a side without lines has 0 lines and starts where they would stand after, as in a unified diff. All 0 for `file`.
struct HunkLines {
  int old_start = 0;
  int old_lines = 0;
  int new_start = 0;
  int new_lines = 0;
};

struct Hunk {
  std::string id;  ///< 32 hex digits: hunk_id()
  HunkKind kind = HunkKind::text;
  HunkLines lines;
  std::string body;  ///< of `text`: lines with ' ', '+', '-' or '\' in front, each ended by '\n'; of `file`: what changed, for hashing
};

/// One changed path. `modes` are as git writes them ("100644", "100755", "120000", "160000"), blobs are 40 hex digits; empty on the side
/// that has no file.
struct FileDiff {
  FileChange change = FileChange::modified;
  std::string old_path;
  std::string new_path;  ///< equal to old_path unless renamed; both are set also for what was added or deleted
  std::string old_mode;
  std::string new_mode;
  std::string old_blob;
  std::string new_blob;
  bool binary = false;  ///< its content is one `file` hunk
  std::int64_t insertions = 0;
  std::int64_t deletions = 0;
  std::vector<Hunk> hunks;  ///< the `file` hunk first, then by line

  const std::string& path() const { return new_path; }
};

/// By path, in the order of the unified diff. Bytes of paths and lines are as git has them, and need not be UTF-8.
struct CanonicalDiff {
  std::vector<FileDiff> files;
};

/// SHA-256 over old path, NUL, new path, NUL, body, NUL, the number of equal hunks of that file before this one; its first 32 hex digits.
/// Line numbers are no part of it: a hunk that only moved is the same hunk.
inline constexpr std::size_t kHunkIdDigits = 32;
std::string hunk_id(std::string_view old_path, std::string_view new_path, std::string_view body, std::size_t ordinal);
/// Changes when what a person has looked at changes: names, modes and contents of both sides, hashed.
std::string content_hash(const FileDiff& file);

/// What somebody said about a hunk.
struct HunkMark {
  std::string hunk_id;
  HunkVerdict verdict = HunkVerdict::accept;
  std::string reason;
  std::string by;  ///< principal's name
  std::int64_t at_ms = 0;
  int from_run = 0;    ///< the run whose review it was given in; 0 = this one
  bool stale = false;  ///< given to an earlier form of this hunk: shown, and does not count
};

/// A remark on lines of one side of the diff. `quote` holds these lines as they were; where they are no longer there, it is stale.
struct ReviewComment {
  CommentId id;
  std::string author;
  std::string path;
  DiffSide side = DiffSide::head;
  int start_line = 1;
  int end_line = 1;
  std::string quote;
  std::string body;
  std::optional<std::string> suggestion;  ///< lines to put in place of those; head side only
  bool accepted = false;                  ///< apply puts the suggestion in place
  bool draft = false;                     ///< seen by its author alone until it is sent
  bool stale = false;
  int from_run = 0;  ///< the run whose review it was written in; 0 = this one
  std::int64_t created_ms = 0;
  std::int64_t updated_ms = 0;
};

/// A file that somebody has looked at, as it was then.
struct ViewedMark {
  std::string path;
  std::string content_hash;
};

/// What an apply made.
struct AppliedReview {
  std::string commit;
  std::string branch;
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  std::int64_t undecided = 0;
  bool pushed = false;
  std::string by;
  std::int64_t at_ms = 0;
};

/// Caps of what people write. Over one: bad_input with the field.
inline constexpr std::size_t kReasonBytes = 4 << 10;
inline constexpr std::size_t kCommentBytes = 64 << 10;  ///< body, quote and suggestion, each
inline constexpr std::size_t kReviewSummaryBytes = 64 << 10;
inline constexpr std::size_t kCommitMessageBytes = 64 << 10;
inline constexpr std::size_t kCommentsPerReview = 2000;
inline constexpr std::size_t kMarksPerEdit = 20'000;

}  // namespace forge
