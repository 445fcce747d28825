#include "orchestrator/git/instructions.h"

#include <string_view>

#include "orchestrator/base/text.h"
#include "orchestrator/git/handles.h"

namespace forge::git {
namespace {

constexpr std::size_t kMaxBytes = 64u << 10;
constexpr std::string_view kNames[]{"AGENTS.md", "CLAUDE.md"};

std::string section(git_repository* mirror, const git_tree_entry* entry, std::string_view name) {
  const auto blob =
      receive<Blob>("reading " + std::string(name), [&](git_blob** out) { return git_blob_lookup(out, mirror, git_tree_entry_id(entry)); });
  const std::string_view bytes(static_cast<const char*>(git_blob_rawcontent(blob.get())),
                               static_cast<std::size_t>(git_blob_rawsize(blob.get())));
  const HeadTail cut = cut_middle(to_utf8(bytes.substr(0, kMaxBytes)).text, kMaxBytes, kMaxBytes, 100);
  std::string text = "# " + std::string(name) + "\n\n" + cut.head;
  if (!text.ends_with('\n')) text += '\n';
  if (bytes.size() > kMaxBytes || cut.cut_bytes > 0) text += "\n[the rest of " + std::string(name) + " is left out]\n";
  return text;
}

}  // namespace

std::string read_instructions(const std::string& git_dir, const std::string& tree) {
  const Repository mirror = open_mirror(git_dir);
  const Tree root = find_tree(mirror.get(), oid_of(tree));
  std::string text;
  git_oid first{};
  for (const std::string_view name : kNames) {
    const git_tree_entry* entry = git_tree_entry_byname(root.get(), std::string(name).c_str());
    // A link is not followed: what it points at is either the other file, or not for us.
    if (entry == nullptr || git_tree_entry_type(entry) != GIT_OBJECT_BLOB || git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK) continue;
    if (git_oid_equal(&first, git_tree_entry_id(entry))) continue;  // one text under two names
    first = *git_tree_entry_id(entry);
    text += (text.empty() ? "" : "\n") + section(mirror.get(), entry, name);
  }
  return text;
}

}  // namespace forge::git
