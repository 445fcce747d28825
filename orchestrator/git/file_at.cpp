#include "orchestrator/git/file_at.h"

#include <array>
#include <cstdio>

#include "orchestrator/base/text.h"
#include "orchestrator/git/tree_comparison.h"

namespace forge::git {
namespace {

std::string named_file(const std::string& path) { return "'" + to_utf8(path).text + "'"; }

void check_size(git_repository* mirror, const git_oid& blob, const std::string& path, std::int64_t max_bytes) {
  std::size_t bytes = 0;
  git_object_t type = GIT_OBJECT_INVALID;
  check("reading the size of a file", git_odb_read_header(&bytes, &type, odb_of(mirror).get(), &blob));
  if (static_cast<std::int64_t>(bytes) > max_bytes)
    throw public_failure(ErrorCode::limit_exceeded, named_file(path) + " has " + human_bytes(bytes) + ", and at most " +
                                                        human_bytes(static_cast<std::size_t>(max_bytes)) + " are shown");
}

}  // namespace

FileAt file_at(const std::string& git_dir, const std::string& commit, const std::string& path, std::int64_t max_bytes) {
  const Repository mirror = open_kept_mirror(git_dir);
  const Commit found = kept_commit(mirror.get(), commit);
  const Tree tree = find_tree(mirror.get(), *git_commit_tree_id(found.get()));
  const TreeEntry entry = entry_at(tree.get(), path);
  if (!entry) throw public_failure(ErrorCode::not_found, "there is no file " + named_file(path)).in_field("path");
  if (git_tree_entry_type(entry.get()) == GIT_OBJECT_TREE)
    throw public_failure(ErrorCode::not_found, named_file(path) + " is a directory").in_field("path");
  if (git_tree_entry_type(entry.get()) == GIT_OBJECT_COMMIT)
    throw public_failure(ErrorCode::unsupported, named_file(path) + " is a submodule, which is another repository").in_field("path");
  const git_oid& blob = *git_tree_entry_id(entry.get());
  check_size(mirror.get(), blob, path, max_bytes);
  return {.blob = hex_of(blob),
          .mode = mode_text(static_cast<unsigned>(git_tree_entry_filemode(entry.get()))),
          .content = blob_content(mirror.get(), blob)};
}

TreeEntry entry_at(const git_tree* tree, const std::string& path) {
  if (path.empty() || path.front() == '/' || path.back() == '/' || path.find('\0') != std::string::npos) return {};
  git_tree_entry* raw = nullptr;
  const int result = git_tree_entry_bypath(&raw, tree, path.c_str());
  TreeEntry entry(raw);
  if (result == GIT_ENOTFOUND || result == GIT_EINVALIDSPEC) return {};
  check("looking for a file", result);
  return entry;
}

std::string blob_content(git_repository* mirror, const git_oid& id) {
  const auto blob = receive<Blob>("reading blob " + hex_of(id), [&](git_blob** out) { return git_blob_lookup(out, mirror, &id); });
  return {static_cast<const char*>(git_blob_rawcontent(blob.get())), static_cast<std::size_t>(git_blob_rawsize(blob.get()))};
}

std::string mode_text(unsigned mode) {
  std::array<char, 12> text{};
  std::snprintf(text.data(), text.size(), "%06o", mode);
  return text.data();
}

}  // namespace forge::git
