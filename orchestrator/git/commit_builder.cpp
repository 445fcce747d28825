#include "orchestrator/git/commit_builder.h"

#include "orchestrator/base/numbers.h"
#include "orchestrator/base/text.h"
#include "orchestrator/git/base_tree.h"
#include "orchestrator/git/findings.h"
#include "orchestrator/git/ignore_rules.h"
#include "orchestrator/git/names.h"
#include "orchestrator/git/object_stage.h"
#include "orchestrator/git/tree_edit.h"

namespace forge::git {
namespace {

// Under the object limit of the library (handles.cpp): what is written must be readable again.
constexpr std::int64_t kMaxFileBytes = 256LL << 20;
constexpr std::int64_t kMaxTotalBytes = 8LL << 30;
constexpr std::int64_t kMaxChanges = 1'000'000;
constexpr std::size_t kMaxLinkBytes = 4095;

std::string as_line(const std::string& text) {
  std::string line;
  for (const char c : harmless(text)) line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return std::string(trim(line));
}

class BaseCommitBuilder final : public CommitBuilder {
 public:
  BaseCommitBuilder(const Base& base, CommitSettings settings)
      : base_(base),
        settings_(std::move(settings)),
        stage_(base.mirror),
        tree_(stage_.repository(), oid_of(base.tree)),
        ignore_(stage_.repository(), tree_) {}

  void add_file(const std::string& path, bool executable, std::int64_t size, const Read& read) override {
    if (!takes(path)) return;
    if (size > kMaxFileBytes)
      return findings_.add("too_large", path, human_bytes(static_cast<std::size_t>(size)) + ", which is too large for a commit");
    total_bytes_ += size;
    if (total_bytes_ > kMaxTotalBytes) throw public_failure(ErrorCode::limit_exceeded, "the changes are larger than 8 GiB");
    const auto blob = stage_.write_blob(size, read);
    if (!blob) return findings_.add("unreadable", path, "ended before its size was read; it is left out");
    put(path, *blob, executable ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB);
  }

  void add_symlink(const std::string& path, const std::string& target) override {
    if (!takes(path)) return;
    if (is_gitmodules_name(path.substr(path.rfind('/') + 1)))
      return findings_.add("refused_name", path, "a .gitmodules that is a link is an attack on git");
    if (target.empty() || target.size() > kMaxLinkBytes || target.find('\0') != std::string::npos)
      return findings_.add("unreadable", path, "a link whose target cannot be stored; it is left out");
    put(path, stage_.write_blob(target), GIT_FILEMODE_LINK);
  }

  void remove(const std::string& path) override {
    count_entry();
    // A name that may not be added may be in the base all the same, and then may go.
    if (is_gitmodules_name(path) && tree_.find(path) != nullptr)
      findings_.add("gitmodules_changed", path, "the list of submodules was removed");
    edit_.remove(path);
  }

  Result commit(const Message& message, const std::string& branch, const Stop& stop) override {
    if (done_) throw Error(ErrorCode::internal, "a commit builder commits once");
    done_ = true;
    stop.check();
    if (ignored_count_ > 0)
      findings_.add("ignored", first_ignored_, counted(ignored_count_, "new file") + " left out: the base's .gitignore matches");
    std::vector<git_oid> trees;
    const git_oid tree = edit_.write(stage_.repository(), tree_.root(), findings_, trees);
    Result result{.commit = "", .tree = hex_of(tree), .findings = findings_.all()};
    if (result.tree == base_.tree) return result;
    stop.check();
    for (const git_oid& id : trees) stage_.note(id);
    const git_oid commit = write_staged_commit(stage_, oid_of(base_.commit), tree, author_of(settings_, {}).get(), commit_text(message));
    point_run_branch(stage_.repository(), base_.mirror, branch, commit, RunBranch::is_new);
    result.commit = hex_of(commit);
    return result;
  }

 private:
  void count_entry() {
    if (++entries_ > kMaxChanges) throw public_failure(ErrorCode::limit_exceeded, "more than a million files were changed");
  }

  /// Judges a path; what is not taken has its finding.
  bool takes(const std::string& path) {
    count_entry();
    const Judgement judgement = judge_path(path);
    for (const NameFinding& one : judgement.findings) findings_.add(one.kind, one.path, one.message);
    if (!judgement.accepted) return false;
    if (const std::string submodule = tree_.submodule_around(path); !submodule.empty()) {
      findings_.add("submodule_content", submodule, "files were made inside a submodule, which is another repository; they are left out");
      return false;
    }
    if (tree_.find(path) == nullptr && ignore_.ignores(path)) {
      if (ignored_count_++ == 0) first_ignored_ = path;
      return false;
    }
    return true;
  }

  void put(const std::string& path, const git_oid& blob, git_filemode_t mode) {
    if (is_gitmodules_name(path)) findings_.add("gitmodules_changed", path, "the list of submodules was changed; look at its addresses");
    edit_.put(path, blob, mode);
  }

  Base base_;
  CommitSettings settings_;
  ObjectStage stage_;
  BaseTree tree_;
  IgnoreRules ignore_;
  TreeEdit edit_;
  Findings findings_;
  std::int64_t entries_ = 0;
  std::int64_t total_bytes_ = 0;
  std::int64_t ignored_count_ = 0;
  std::string first_ignored_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<CommitBuilder> make_commit_builder(const Base& base, CommitSettings settings) {
  return std::make_unique<BaseCommitBuilder>(base, std::move(settings));
}

std::string commit_text(const CommitBuilder::Message& message) {
  const std::string subject = as_line(message.subject);
  std::string text = (subject.empty() ? "Changes of an agent" : subject) + "\n";
  const std::string body = harmless(message.body);
  if (const auto trimmed = trim(body); !trimmed.empty()) text += "\n" + std::string(trimmed) + "\n";
  if (!message.trailers.empty()) text += "\n";
  for (const auto& [key, value] : message.trailers) text += as_line(key) + ": " + as_line(value) + "\n";
  return text;
}

}  // namespace forge::git
