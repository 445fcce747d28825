#include "orchestrator/git/tree_edit.h"

#include <set>

#include "orchestrator/base/text.h"

namespace forge::git {

class TreeEdit::Writer {
 public:
  Writer(git_repository* mirror, Findings& findings, std::vector<git_oid>& written)
      : mirror_(mirror), findings_(findings), written_(written) {}

  /// Nothing when the directory ends up empty: git knows no empty directories.
  std::optional<git_oid> write(const Node& node, const git_tree* base, const std::string& prefix) {
    const auto builder =
        receive<TreeBuilder>("building a tree", [&](git_treebuilder** out) { return git_treebuilder_new(out, mirror_, base); });
    std::vector<std::string> added;
    for (const auto& [name, child] : node.children)
      if (apply(builder.get(), name, *child, prefix + name)) added.push_back(name);
    if (git_treebuilder_entrycount(builder.get()) == 0) return {};
    git_oid id{};
    check("writing a tree", git_treebuilder_write(&id, builder.get()));
    written_.push_back(id);
    if (!added.empty()) tell_case_pairs(id, added, prefix);
    if (is_bare_repository(id) && has_content(node))
      findings_.add("bare_repository", prefix.empty() ? "." : prefix.substr(0, prefix.size() - 1),
                    "git takes this directory for a repository: run in it, it obeys the configuration and the hooks that lie there");
    return id;
  }

  git_oid write_root(const Node& node, const git_tree* base) {
    if (const auto id = write(node, base, "")) return *id;
    const auto builder =
        receive<TreeBuilder>("building a tree", [&](git_treebuilder** out) { return git_treebuilder_new(out, mirror_, nullptr); });
    git_oid empty{};
    check("writing the empty tree", git_treebuilder_write(&empty, builder.get()));
    written_.push_back(empty);
    return empty;
  }

 private:
  /// True when a name came that was not there before.
  bool apply(git_treebuilder* builder, const std::string& name, const Node& node, const std::string& path) {
    const git_tree_entry* entry = git_treebuilder_get(builder, name.c_str());
    const bool known = entry != nullptr;
    if (node.mode) {
      if (has_content(node)) findings_.add("path_conflict", path, "is a file and a directory at once; the file is kept");
      return insert(builder, name, node.blob, *node.mode, path) && !known;
    }
    Tree below;
    const bool was_directory = known && git_tree_entry_type(entry) == GIT_OBJECT_TREE;
    if (was_directory && !node.removed) below = find_tree(mirror_, *git_tree_entry_id(entry));
    if (known && !was_directory && !node.removed && !has_content(node)) return false;  // removals below a file: nothing to do
    const auto id = node.children.empty() ? std::nullopt : write(node, below.get(), path + "/");
    if (id) return insert(builder, name, *id, GIT_FILEMODE_TREE, path) && !known;
    if (known) check("removing " + path, git_treebuilder_remove(builder, name.c_str()));
    return false;
  }

  static bool has_content(const Node& node) {
    for (const auto& [name, child] : node.children)
      if (child->mode || has_content(*child)) return true;
    return false;
  }

  bool insert(git_treebuilder* builder, const std::string& name, const git_oid& id, git_filemode_t mode, const std::string& path) {
    if (git_treebuilder_insert(nullptr, builder, name.c_str(), &id, mode) == 0) return true;
    findings_.add("refused_name", path, "git refuses this name");  // names.h is meant to be stricter than libgit2; this is the net below it
    return false;
  }

  /// As git judges it: it needs no .git around. In any case of letters, for systems that ignore it. Links count: git follows them.
  bool is_bare_repository(const git_oid& id) {
    std::set<std::string> names;
    const Tree tree = find_tree(mirror_, id);
    for (std::size_t i = 0; i < git_tree_entrycount(tree.get()); ++i) {
      const std::string name = lower_ascii(git_tree_entry_name(git_tree_entry_byindex(tree.get(), i)));
      if (name == "head" || name == "objects" || name == "refs" || name == "commondir") names.insert(name);
    }
    return names.contains("head") && (names.contains("commondir") || (names.contains("objects") && names.contains("refs")));
  }

  void tell_case_pairs(const git_oid& id, const std::vector<std::string>& added, const std::string& prefix) {
    std::map<std::string, std::vector<std::string>> names;  // by lower case, those with a new name among them
    for (const std::string& name : added) names[lower_ascii(name)];
    const Tree tree = find_tree(mirror_, id);
    for (std::size_t i = 0; i < git_tree_entrycount(tree.get()); ++i) {
      const std::string name = git_tree_entry_name(git_tree_entry_byindex(tree.get(), i));
      if (const auto found = names.find(lower_ascii(name)); found != names.end()) found->second.push_back(name);
    }
    for (const auto& [folded, all] : names)
      if (all.size() > 1)
        findings_.add("case_pair", prefix + all[0],
                      "differs from '" + to_utf8(all[1]).text + "' in case only; some systems keep one of them");
  }

  git_repository* mirror_;
  Findings& findings_;
  std::vector<git_oid>& written_;
};

TreeEdit::Node& TreeEdit::node_at(const std::string& path) {
  Node* node = &root_;
  for (const std::string& name : split(path, '/')) {
    auto& child = node->children[name];
    if (!child) child = std::make_unique<Node>();
    node = child.get();
  }
  return *node;
}

void TreeEdit::put(const std::string& path, const git_oid& blob, git_filemode_t mode) {
  Node& node = node_at(path);
  node.blob = blob;
  node.mode = mode;
  node.removed = false;
}

void TreeEdit::remove(const std::string& path) {
  Node& node = node_at(path);
  node.mode.reset();
  node.removed = true;
}

git_oid TreeEdit::write(git_repository* mirror, const git_tree* base, Findings& findings, std::vector<git_oid>& written) const {
  return Writer(mirror, findings, written).write_root(root_, base);
}

}  // namespace forge::git
