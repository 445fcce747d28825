#include "orchestrator/git/accepted_commit.h"

#include <charconv>
#include <map>

#include "orchestrator/base/text.h"
#include "orchestrator/git/canonical_diff.h"
#include "orchestrator/git/file_at.h"
#include "orchestrator/git/findings.h"
#include "orchestrator/git/standing.h"
#include "orchestrator/git/suggestions.h"
#include "orchestrator/git/tree_edit.h"

namespace forge::git {
namespace {

git_filemode_t mode_of(const std::string& text) {
  int mode = 0;
  std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  return static_cast<git_filemode_t>(mode);
}

/// The changes from the base's tree to what was accepted, written into a stage.
class AcceptedTree {
 public:
  AcceptedTree(const Acceptance& acceptance, const TreeComparison& comparison, ObjectStage& stage)
      : comparison_(comparison), stage_(stage) {
    for (const Suggestion& one : acceptance.suggestions) suggestions_[one.path].push_back(&one);
  }

  git_oid write(const std::vector<FileChoice>& choices, const Stop& stop) {
    // All removals first: a place may be left by one file and taken by another.
    for (const FileChoice& choice : choices)
      if (const std::string path = choice.vacated(); !path.empty()) edit_.remove(path);
    for (const FileChoice& choice : choices) {
      stop.check();
      put(choice);
    }
    for (const auto& [path, suggestions] : suggestions_) put_unchanged(path, suggestions);
    Findings findings;
    std::vector<git_oid> trees;
    const git_oid tree = edit_.write(stage_.repository(), comparison_.base.get(), findings, trees);
    for (const auto& finding : findings.all())
      if (finding.kind == "refused_name") throw public_failure(ErrorCode::unsupported, "git refuses the name '" + finding.path + "'");
    for (const git_oid& id : trees) stage_.note(id);
    return tree;
  }

 private:
  void put(const FileChoice& choice) {
    const auto suggestions = take_suggestions(choice);
    if (choice.nothing() && suggestions.empty()) return;
    const std::string path = choice.path();
    if (path.empty()) return;
    edit_.put(path, content(choice, suggestions), mode_of(choice.mode()));
  }

  /// Those for a file of the diff. One that head does not have can have none.
  std::vector<const Suggestion*> take_suggestions(const FileChoice& choice) {
    const FileDiff& file = *choice.file;
    const auto found = file.new_mode.empty() ? suggestions_.end() : suggestions_.find(file.new_path);
    if (found == suggestions_.end()) return {};
    auto suggestions = std::move(found->second);
    suggestions_.erase(found);
    if (is_whole(file) && !choice.file_hunk) throw conflict_of(*suggestions.front(), "is for a file whose change is not accepted");
    return suggestions;
  }

  git_oid content(const FileChoice& choice, const std::vector<const Suggestion*>& suggestions) {
    const FileDiff& file = *choice.file;
    if (is_whole(file)) {
      const git_oid head = oid_of(file.new_blob);
      return suggestions.empty() ? head : suggested(head, file.new_mode, suggestions);
    }
    if (suggestions.empty() && choice.taken_text == 0) return oid_of(file.old_blob);
    const std::string base = blob_content(stage_.repository(), oid_of(file.old_blob));
    const std::vector<MergedLine> lines = merge_hunks(base, choice);
    if (suggestions.empty()) return stage_.write_blob(joined(lines));
    return stage_.write_blob(
        with_suggestions(lines, checked_lines(oid_of(file.new_blob), file.new_mode, *suggestions.front()), suggestions));
  }

  /// A file that is at head as it will be in the result, but for the suggestions.
  git_oid suggested(const git_oid& blob, const std::string& mode, const std::vector<const Suggestion*>& suggestions) {
    const int count = checked_lines(blob, mode, *suggestions.front());
    const std::string text = blob_content(stage_.repository(), blob);
    return stage_.write_blob(with_suggestions(head_lines(text), count, suggestions));
  }

  void put_unchanged(const std::string& path, const std::vector<const Suggestion*>& suggestions) {
    const TreeEntry entry = entry_at(comparison_.head.get(), path);
    if (!entry || git_tree_entry_type(entry.get()) == GIT_OBJECT_TREE)
      throw bad_suggestion(*suggestions.front(), "is for a file that the run's result does not have");
    const git_filemode_t mode = git_tree_entry_filemode(entry.get());
    edit_.put(path, suggested(*git_tree_entry_id(entry.get()), mode_text(static_cast<unsigned>(mode)), suggestions), mode);
  }

  /// How many lines a file has. Throws bad_input for one that has none to speak of.
  int checked_lines(const git_oid& blob, const std::string& mode, const Suggestion& suggestion) {
    const bool is_file = mode_of(mode) == GIT_FILEMODE_BLOB || mode_of(mode) == GIT_FILEMODE_BLOB_EXECUTABLE;
    if (!is_file) throw bad_suggestion(suggestion, "is for a link or a submodule, which has no lines");
    const std::string text = blob_content(stage_.repository(), blob);
    if (git_blob_data_is_binary(text.data(), text.size()) != 0) throw bad_suggestion(suggestion, "is for a binary file");
    return static_cast<int>(lines_with_ends(text).size());
  }

  const TreeComparison& comparison_;
  ObjectStage& stage_;
  TreeEdit edit_;
  std::map<std::string, std::vector<const Suggestion*>> suggestions_;  // by path; those not yet placed
};

std::string message_text(const std::string& message) {
  const std::string clean = harmless(message);
  const auto trimmed = trim(clean);
  return (trimmed.empty() ? "Accepted changes" : std::string(trimmed)) + "\n";
}

}  // namespace

AcceptedCommit commit_accepted(const std::string& git_dir, const Acceptance& acceptance, const CommitSettings& settings, const Stop& stop) {
  const TreeComparison comparison = compare_commits(git_dir, acceptance.base_commit, acceptance.head_commit, BinaryContent::none, stop);
  const CanonicalDiff diff = canonical_diff(comparison, kReviewDiffBytes, stop);
  ObjectStage stage(git_dir);
  const git_oid tree = stage_accepted(stage, comparison, diff, acceptance, stop);
  stop.check();
  const Signature author = author_of(settings, acceptance.time_ms);
  const git_oid commit = write_staged_commit(stage, oid_of(acceptance.base_commit), tree, author.get(), message_text(acceptance.message));
  point_run_branch(stage.repository(), git_dir, acceptance.branch, commit, RunBranch::may_exist);
  return {.commit = hex_of(commit), .tree = hex_of(tree)};
}

git_oid stage_accepted(ObjectStage& stage, const TreeComparison& comparison, const CanonicalDiff& diff, const Acceptance& acceptance,
                       const Stop& stop) {
  const std::vector<FileChoice> choices = choose_hunks(diff, acceptance.hunks);
  check_standing(comparison.mirror.get(), comparison.base.get(), comparison.head.get(), choices);
  return AcceptedTree(acceptance, comparison, stage).write(choices, stop);
}

}  // namespace forge::git
