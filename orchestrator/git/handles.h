#pragma once

#include <git2.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "orchestrator/base/error.h"

// Private to this room, and the only header that includes git2.h: owned handles, checked calls, errors.
namespace forge::git {

template <auto free_it>
struct FreeWith {
  template <typename Handle>
  void operator()(Handle* handle) const noexcept {
    free_it(handle);
  }
};

using Repository = std::unique_ptr<git_repository, FreeWith<git_repository_free>>;
using Odb = std::unique_ptr<git_odb, FreeWith<git_odb_free>>;
using OdbObject = std::unique_ptr<git_odb_object, FreeWith<git_odb_object_free>>;
using OdbStream = std::unique_ptr<git_odb_stream, FreeWith<git_odb_stream_free>>;
using Blob = std::unique_ptr<git_blob, FreeWith<git_blob_free>>;
using Object = std::unique_ptr<git_object, FreeWith<git_object_free>>;
using Commit = std::unique_ptr<git_commit, FreeWith<git_commit_free>>;
using Tree = std::unique_ptr<git_tree, FreeWith<git_tree_free>>;
using TreeEntry = std::unique_ptr<git_tree_entry, FreeWith<git_tree_entry_free>>;
using TreeBuilder = std::unique_ptr<git_treebuilder, FreeWith<git_treebuilder_free>>;
using Reference = std::unique_ptr<git_reference, FreeWith<git_reference_free>>;
using ReferenceIterator = std::unique_ptr<git_reference_iterator, FreeWith<git_reference_iterator_free>>;
using RefDb = std::unique_ptr<git_refdb, FreeWith<git_refdb_free>>;
using Remote = std::unique_ptr<git_remote, FreeWith<git_remote_free>>;
using Signature = std::unique_ptr<git_signature, FreeWith<git_signature_free>>;
using Index = std::unique_ptr<git_index, FreeWith<git_index_free>>;
using TreeDiff = std::unique_ptr<git_diff, FreeWith<git_diff_free>>;
using PackBuilder = std::unique_ptr<git_packbuilder, FreeWith<git_packbuilder_free>>;

/// The Error for a failed call: its return value becomes a code, libgit2's own text stands in the message.
Error libgit2_error(std::string_view what, int result);

/// Throws libgit2_error when `result` is negative; returns it otherwise.
inline int check(std::string_view what, int result) {
  if (result < 0) throw libgit2_error(what, result);
  return result;
}

/// Calls `fill(&raw)`, owns what came out before looking at the result, and throws when that is negative.
template <typename Handle, typename Fill>
Handle receive(std::string_view what, Fill&& fill) {
  typename Handle::pointer raw = nullptr;
  const int result = std::forward<Fill>(fill)(&raw);
  Handle owned(raw);
  check(what, result);
  return owned;
}

/// Carries an exception through C code: the callback runs its body in run(), which answers libgit2's "stop"; after the call, rethrow().
class Carried {
 public:
  template <typename Body>
  int run(Body&& body) noexcept {
    try {
      std::forward<Body>(body)();
      return 0;
    } catch (...) {
      error_ = std::current_exception();
      return GIT_EUSER;
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

/// Initialises libgit2 once per process, before the first use of any handle: no configuration of the machine or the user is read, windows
/// and object sizes are bounded, and directories owned by others may be opened (every directory we open is ours or was named by the
/// operator).
void use_libgit2();

/// Opens a bare repository of ours by its git directory: nothing is searched.
Repository open_mirror(const std::string& git_dir);
/// The object database of `repository`.
Odb odb_of(git_repository* repository);

/// 40 hex digits. Throws invalid_argument for anything else.
git_oid oid_of(const std::string& hex);
std::string hex_of(const git_oid& id);

Commit find_commit(git_repository* repository, const git_oid& id);
Tree find_tree(git_repository* repository, const git_oid& id);

}  // namespace forge::git
