#include "orchestrator/domain/review.h"

#include <string>

#include "orchestrator/crypto/crypto.h"
#include "orchestrator/domain/enum_names.h"

namespace forge {
namespace {

constexpr EnumNames<2> kVerdicts{"accept", "reject"};
constexpr EnumNames<2> kHunkKinds{"text", "file"};
constexpr EnumNames<2> kSides{"base", "head"};
constexpr EnumNames<5> kChanges{"added", "deleted", "modified", "renamed", "retyped"};
static_assert(kChanges.size() == static_cast<std::size_t>(FileChange::retyped) + 1);

}  // namespace

std::string_view name_of(HunkVerdict verdict) { return name_in(kVerdicts, verdict); }
std::optional<HunkVerdict> parse_hunk_verdict(std::string_view name) { return value_in<HunkVerdict>(kVerdicts, name); }
std::string_view name_of(HunkKind kind) { return name_in(kHunkKinds, kind); }
std::optional<HunkKind> parse_hunk_kind(std::string_view name) { return value_in<HunkKind>(kHunkKinds, name); }
std::string_view name_of(DiffSide side) { return name_in(kSides, side); }
std::optional<DiffSide> parse_diff_side(std::string_view name) { return value_in<DiffSide>(kSides, name); }
std::string_view name_of(FileChange change) { return name_in(kChanges, change); }
std::optional<FileChange> parse_file_change(std::string_view name) { return value_in<FileChange>(kChanges, name); }

std::string hunk_id(std::string_view old_path, std::string_view new_path, std::string_view body, std::size_t ordinal) {
  crypto::Sha256 hash;
  const auto part = [&](std::string_view text) {
    hash.update(text);
    hash.update(std::string_view("\0", 1));
  };
  part(old_path);
  part(new_path);
  part(body);
  hash.update(std::to_string(ordinal));
  return hash.finish_hex().substr(0, kHunkIdDigits);
}

std::string content_hash(const FileDiff& file) {
  crypto::Sha256 hash;
  for (const std::string* part : {&file.old_path, &file.new_path, &file.old_mode, &file.new_mode, &file.old_blob, &file.new_blob}) {
    hash.update(*part);
    hash.update(std::string_view("\0", 1));
  }
  return hash.finish_hex().substr(0, kHunkIdDigits);
}

}  // namespace forge
