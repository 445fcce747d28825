#include "orchestrator/git/standing.h"

#include <map>
#include <set>
#include <tuple>
#include <unordered_set>

#include "orchestrator/base/text.h"

namespace forge::git {
namespace {

// A text for people: the first few say what is meant.
constexpr std::size_t kMostNamed = 10;

std::string quoted(const std::string& path) { return "'" + to_utf8(path).text + "'"; }

/// A directory and a name in it.
struct PathStep {
  std::string directory;  // "" is the root
  std::string name;
  std::string path() const { return directory.empty() ? name : directory + "/" + name; }
  bool operator<(const PathStep& other) const { return std::tie(directory, name) < std::tie(other.directory, other.name); }
};

/// "a/b/c" > {"", "a"}, {"a", "b"}, {"a/b", "c"}.
std::vector<PathStep> steps_of(const std::string& path) {
  std::vector<PathStep> steps;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    steps.push_back({path.substr(0, begin == 0 ? 0 : begin - 1), path.substr(begin, end - begin)});
    begin = end + 1;
  }
  return steps;
}

class Standing {
 public:
  Standing(git_repository* mirror, const git_tree* base, const git_tree* head, const std::vector<FileChoice>& choices)
      : mirror_(mirror), base_(mirror, *git_tree_id(base)), head_(mirror, *git_tree_id(head)) {
    for (const FileChoice& choice : choices)
      if (const std::string path = choice.vacated(); !path.empty()) vacated_.insert(path);
  }

  void check_new(const std::string& path) {
    for (const PathStep& step : steps_of(path)) {
      const bool whole = step.path() == path;
      const git_tree_entry* entry = base_.find(step.path());
      if (entry != nullptr && (whole || git_tree_entry_type(entry) != GIT_OBJECT_TREE)) {
        if (const std::string kept = first_kept(entry, step.path()); !kept.empty()) tell(path, kept, "");
      }
      if (checked_names_.insert(step).second) check_case(step, path);
    }
  }

  void finish() const {
    if (told_.empty()) return;
    std::string text = "accepted changes cannot stand without others that are not accepted: ";
    for (std::size_t i = 0; i < told_.size(); ++i) text += (i == 0 ? "" : "; ") + told_[i];
    if (untold_ > 0) text += "; and " + std::to_string(untold_) + " more";
    throw public_failure(ErrorCode::conflict, text).with_hint("accept what stands in the way as well, or reject what needs its place");
  }

 private:
  /// The entry itself, or a file below it, that the result still has; "" when there is none.
  std::string first_kept(const git_tree_entry* entry, const std::string& path) {
    if (git_tree_entry_type(entry) != GIT_OBJECT_TREE) return vacated_.contains(path) ? "" : path;
    const Tree tree = find_tree(mirror_, *git_tree_entry_id(entry));
    for (std::size_t i = 0; i < git_tree_entrycount(tree.get()); ++i) {
      const git_tree_entry* below = git_tree_entry_byindex(tree.get(), i);
      std::string kept = first_kept(below, path + "/" + git_tree_entry_name(below));
      if (!kept.empty()) return kept;
    }
    return "";
  }

  /// A pair that head has, too, is the run's own doing, and one that the base has was there before.
  void check_case(const PathStep& step, const std::string& path) {
    const git_tree* before = base_.directory(step.directory);
    if (before == nullptr || git_tree_entry_byname(before, step.name.c_str()) != nullptr) return;
    const git_tree* after = head_.directory(step.directory);
    const auto [begin, end] = folded(step.directory, before).equal_range(lower_ascii(step.name));
    for (auto one = begin; one != end; ++one) {
      const PathStep other{step.directory, git_tree_entry_name(one->second)};
      if (after != nullptr && git_tree_entry_byname(after, other.name.c_str()) != nullptr) continue;
      if (const std::string kept = first_kept(one->second, other.path()); !kept.empty())
        tell(path, kept, ", whose name differs in case only");
    }
  }

  /// The base's names in a directory, by their lower case.
  const std::multimap<std::string, const git_tree_entry*>& folded(const std::string& directory, const git_tree* tree) {
    auto& names = folded_[directory];
    if (!names.empty()) return names;
    for (std::size_t i = 0; i < git_tree_entrycount(tree); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(tree, i);
      names.emplace(lower_ascii(git_tree_entry_name(entry)), entry);
    }
    return names;
  }

  void tell(const std::string& path, const std::string& kept, const std::string& remark) {
    if (told_.size() == kMostNamed) {
      ++untold_;
    } else {
      told_.push_back(quoted(path) + " needs the old " + quoted(kept) + " gone" + remark);
    }
  }

  git_repository* mirror_;
  BaseTree base_;
  BaseTree head_;
  std::unordered_set<std::string> vacated_;  // paths of the base that the result does not keep for the file that had them
  std::set<PathStep> checked_names_;
  std::map<std::string, std::multimap<std::string, const git_tree_entry*>> folded_;  // by directory
  std::vector<std::string> told_;
  std::size_t untold_ = 0;
};

}  // namespace

void check_standing(git_repository* mirror, const git_tree* base, const git_tree* head, const std::vector<FileChoice>& choices) {
  Standing standing(mirror, base, head, choices);
  for (const FileChoice& choice : choices) {
    const std::string path = choice.path();
    const bool is_new = choice.file->old_mode.empty() || path != choice.file->old_path;
    if (!path.empty() && is_new) standing.check_new(path);
  }
  standing.finish();
}

}  // namespace forge::git
