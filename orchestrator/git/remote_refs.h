#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/domain/job_control.h"
#include "orchestrator/git/handles.h"

namespace forge::git {

/// What a remote has, as far as it matters here: branches, tags, and one reference that was asked for by its whole name.
struct RemoteRefs {
  struct Ref {
    std::string name;  ///< "refs/heads/main"
    std::string id;    ///< 40 hex digits; of the tag object for an annotated tag
  };
  std::vector<Ref> refs;
  std::string head_ref;  ///< what HEAD points at; empty when it is detached or unborn
  std::string head_id;   ///< empty when HEAD is unborn
  /// A HEAD without a branch is something to work on: what a CI checks out.
  bool empty() const { return refs.empty() && head_id.empty(); }
};

/// Where a mirror keeps what HEAD of the remote is: a symbolic reference, or an id. Not in its own HEAD, which git wants below refs/heads/.
inline constexpr const char* kRemoteHead = "refs/forge/remote-head";

/// True for what a mirror keeps: branches, tags, and `named` itself. Peeled entries ("refs/tags/v1^{}") are not kept.
bool is_kept(std::string_view name, std::string_view named);
/// Where the mirror keeps a remote's reference: branches under refs/remotes/origin/, tags where they are, others under refs/named/.
/// refs/forge/ is ours alone.
std::string mirror_ref(const std::string& name);
/// Refspec sources and targets of the same mapping, for a transfer.
std::vector<std::string> fetch_refspecs(const std::string& named);

/// The names of the branches, at most kMostBranches of them.
Branches branches_of(const RemoteRefs& remote);

/// True when the mirror has all objects that `remote` points at.
bool has_tips(git_repository* mirror, const RemoteRefs& remote);
/// Makes the mirror's references those of `remote`: what is gone there goes here first, so that a branch `a` may become `a/b`. Its HEAD
/// too.
void update_refs(git_repository* mirror, const RemoteRefs& remote, const std::string& named);

}  // namespace forge::git
