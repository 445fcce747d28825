#include "orchestrator/git/handles.h"

#include <array>

namespace forge::git {
namespace {

// A window maps whole packs in pieces; both are soft limits and stay under the address space of the network child.
constexpr std::size_t kWindowBytes = 64u << 20;
constexpr std::size_t kMappedBytes = 1u << 30;
constexpr std::size_t kOpenPacks = 256;
// Of a declared object or the result of a delta: a pack of some kilobytes can claim gigabytes.
constexpr std::size_t kObjectBytes = 512u << 20;

ErrorCode code_of_class(int error_class) {
  switch (error_class) {
    case GIT_ERROR_NOMEMORY: return ErrorCode::limit_exceeded;
    case GIT_ERROR_NET:
    case GIT_ERROR_HTTP:
    case GIT_ERROR_SSL: return ErrorCode::unavailable;
    case GIT_ERROR_ZLIB:
    case GIT_ERROR_INDEXER:
    case GIT_ERROR_ODB:
    case GIT_ERROR_SHA: return ErrorCode::corrupt;
    default: return ErrorCode::internal;
  }
}

ErrorCode code_of(int result, int error_class) {
  switch (result) {
    case GIT_ENOTFOUND:
    case GIT_EUNBORNBRANCH: return ErrorCode::not_found;
    case GIT_EEXISTS:
    case GIT_ENONFASTFORWARD: return ErrorCode::conflict;
    case GIT_EAMBIGUOUS:
    case GIT_EINVALIDSPEC:
    case GIT_EPEEL: return ErrorCode::invalid_argument;
    case GIT_ELOCKED: return ErrorCode::busy;
    case GIT_EAUTH: return ErrorCode::unauthenticated;
    case GIT_ECERTIFICATE: return ErrorCode::unavailable;
    case GIT_EOWNER: return ErrorCode::permission_denied;
    case GIT_EMISMATCH: return ErrorCode::corrupt;
    default: return code_of_class(error_class);
  }
}

struct LibraryStart {
  LibraryStart() {
    check("starting libgit2", git_libgit2_init());
    for (const int level : {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL})
      check("emptying a search path", git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, ""));
    check("setting the window", git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, kWindowBytes));
    check("setting the mapped limit", git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, kMappedBytes));
    check("setting the open packs", git_libgit2_opts(GIT_OPT_SET_MWINDOW_FILE_LIMIT, kOpenPacks));
    check("setting the object limit", git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECT_SIZE, kObjectBytes));
    // A transfer hashes all that comes in; hashing again with every read would make a checkout a third dearer. git does not either.
    check("setting the hash check", git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0));
    // The switch is one per process and cannot follow a single open. Mirrors are ours; a local source was named by the operator, or lies
    // under a prefix that the operator allowed. Nothing is ever discovered, so no other directory is opened.
    check("setting the owner check", git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0));
    check("setting the user agent", git_libgit2_opts(GIT_OPT_SET_USER_AGENT, "forge"));
  }
};

}  // namespace

Error libgit2_error(std::string_view what, int result) {
  const git_error* last = git_error_last();
  const int error_class = last == nullptr ? GIT_ERROR_NONE : last->klass;
  std::string text = last == nullptr || last->message == nullptr ? "no reason was given" : last->message;
  return Error(code_of(result, error_class), std::string(what) + ": " + text + " (libgit2 " + std::to_string(result) + ")");
}

void use_libgit2() {
  // libgit2's settings are global to the process anyway: set once, before any handle, and never taken down while threads may use them.
  [[maybe_unused]] static const LibraryStart started;
}

Repository open_mirror(const std::string& git_dir) {
  return receive<Repository>("opening the mirror " + git_dir,
                             [&](git_repository** out) { return git_repository_open_bare(out, git_dir.c_str()); });
}

Odb odb_of(git_repository* repository) {
  return receive<Odb>("opening the object database", [&](git_odb** out) { return git_repository_odb(out, repository); });
}

git_oid oid_of(const std::string& hex) {
  git_oid id{};
  if (hex.size() != GIT_OID_HEXSZ || git_oid_fromstr(&id, hex.c_str()) < 0)
    throw Error(ErrorCode::invalid_argument, "not an object id: '" + hex + "'");
  return id;
}

std::string hex_of(const git_oid& id) {
  std::array<char, GIT_OID_HEXSZ + 1> text{};
  git_oid_tostr(text.data(), text.size(), &id);
  return text.data();
}

Commit find_commit(git_repository* repository, const git_oid& id) {
  return receive<Commit>("reading commit " + hex_of(id), [&](git_commit** out) { return git_commit_lookup(out, repository, &id); });
}

Tree find_tree(git_repository* repository, const git_oid& id) {
  return receive<Tree>("reading tree " + hex_of(id), [&](git_tree** out) { return git_tree_lookup(out, repository, &id); });
}

}  // namespace forge::git
