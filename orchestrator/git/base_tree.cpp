#include "orchestrator/git/base_tree.h"

namespace forge::git {
namespace {

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string last_name(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

const git_tree* BaseTree::directory(const std::string& path) {
  if (path.empty()) return root_.get();
  if (const auto known = directories_.find(path); known != directories_.end()) return known->second.get();
  const git_tree_entry* entry = find(path);
  Tree tree;
  if (entry != nullptr && git_tree_entry_type(entry) == GIT_OBJECT_TREE) tree = find_tree(mirror_, *git_tree_entry_id(entry));
  return directories_.emplace(path, std::move(tree)).first->second.get();
}

const git_tree_entry* BaseTree::find(const std::string& path) {
  const git_tree* parent = directory(parent_of(path));
  return parent == nullptr ? nullptr : git_tree_entry_byname(parent, last_name(path).c_str());
}

std::string BaseTree::submodule_around(const std::string& path) {
  for (std::string above = parent_of(path); !above.empty(); above = parent_of(above)) {
    if (directory(above) != nullptr) return "";  // a directory of the base: nothing above it is a submodule
    const git_tree_entry* entry = find(above);
    if (entry != nullptr && git_tree_entry_filemode(entry) == GIT_FILEMODE_COMMIT) return above;
  }
  return "";
}

}  // namespace forge::git
