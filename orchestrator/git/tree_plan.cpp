#include "orchestrator/git/tree_plan.h"

#include <climits>
#include <string_view>

#include "orchestrator/base/text.h"
#include "orchestrator/git/names.h"

namespace forge::git {
namespace {

constexpr std::size_t kMaxPlacedPathBytes = PATH_MAX - 1;
constexpr int kMaxPlacedDepth = 512;
// A report is for people; the tree itself may hold any number.
constexpr std::size_t kMaxSkippedTold = 20;

class Planner {
 public:
  Planner(git_repository* mirror, std::int64_t max_entries, const Stop& stop) : mirror_(mirror), room_(max_entries), stop_(stop) {}

  void walk(const git_tree* tree, const git_tree* near_tree, const std::string& prefix) {
    stop_.check();
    std::string_view previous;
    for (std::size_t i = 0; i < git_tree_entrycount(tree); ++i) {
      const git_tree_entry* entry = git_tree_entry_byindex(tree, i);
      const std::string_view name = git_tree_entry_name(entry);
      if (--room_ < 0)
        throw public_failure(ErrorCode::limit_exceeded, "the commit has too many files for a work tree").in_field("repository");
      const std::string path = prefix + std::string(name);
      // A valid tree is sorted and names nothing twice; a hostile one may give one name to a link and to a directory.
      const bool twice = name == previous;
      previous = name;
      if (const std::string fault = twice ? "named twice" : fault_of(name, path); !fault.empty()) {
        skip(path, fault);
        continue;
      }
      const git_tree_entry* near_entry = near_tree == nullptr ? nullptr : git_tree_entry_byname(near_tree, git_tree_entry_name(entry));
      add(entry, near_entry, path);
    }
  }

  TreePlan take() { return std::move(plan_); }

 private:
  static std::string fault_of(std::string_view name, const std::string& path) {
    if (path.size() > kMaxPlacedPathBytes || name.size() > NAME_MAX) return "too long";
    return is_git_name(name) || !is_plain_name(name) ? "not a name for a file" : "";
  }

  void skip(const std::string& path, const std::string& why) {
    if (plan_.skipped.size() < kMaxSkippedTold) plan_.skipped.push_back(to_utf8(path).text + ": " + why);
  }

  void add(const git_tree_entry* entry, const git_tree_entry* near_entry, const std::string& path) {
    const git_filemode_t mode = git_tree_entry_filemode(entry);
    const git_oid& id = *git_tree_entry_id(entry);
    const bool unchanged =
        near_entry != nullptr && git_oid_equal(git_tree_entry_id(near_entry), &id) && git_tree_entry_filemode(near_entry) == mode;
    switch (mode) {
      case GIT_FILEMODE_TREE: return add_directory(id, near_entry, path);
      case GIT_FILEMODE_COMMIT:
        plan_.directories.push_back(path);
        plan_.submodules.push_back(to_utf8(path).text + " at " + hex_of(id).substr(0, 8));
        return;
      case GIT_FILEMODE_LINK: plan_.links.push_back({path, id, false, false}); return;
      case GIT_FILEMODE_BLOB:
      case GIT_FILEMODE_BLOB_EXECUTABLE: plan_.files.push_back({path, id, mode == GIT_FILEMODE_BLOB_EXECUTABLE, unchanged}); return;
      default: skip(path, "of a kind that git does not know");
    }
  }

  void add_directory(const git_oid& id, const git_tree_entry* near_entry, const std::string& path) {
    if (depth_ >= kMaxPlacedDepth) return skip(path, "too deep");
    plan_.directories.push_back(path);
    const Tree below = find_tree(mirror_, id);
    Tree near_below;
    if (near_entry != nullptr && git_tree_entry_type(near_entry) == GIT_OBJECT_TREE)
      near_below = find_tree(mirror_, *git_tree_entry_id(near_entry));
    ++depth_;
    walk(below.get(), near_below.get(), path + "/");
    --depth_;
  }

  git_repository* mirror_;
  std::int64_t room_;
  int depth_ = 0;
  const Stop& stop_;
  TreePlan plan_;
};

}  // namespace

TreePlan plan_tree(git_repository* mirror, const git_tree* tree, const git_tree* near_tree, std::int64_t max_entries, const Stop& stop) {
  Planner planner(mirror, max_entries, stop);
  planner.walk(tree, near_tree, "");
  return planner.take();
}

}  // namespace forge::git
