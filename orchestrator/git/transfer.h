#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "orchestrator/git/handles.h"
#include "orchestrator/git/push_target.h"
#include "orchestrator/git/remote_refs.h"
#include "orchestrator/git/repository_cache.h"

namespace forge::git {

/// Who runs a transfer hears of its progress; whatever a function throws ends the transfer and comes out of it.
class TransferListener {
 public:
  virtual ~TransferListener() = default;
  /// Bytes or objects moved. Often.
  virtual void moved() = 0;
  /// A phase began: "connected", "uploaded".
  virtual void reached(std::string_view phase) = 0;
};

/// The other end of a transfer.
struct Endpoint {
  std::string url;        ///< http(s) URL, or the path of a repository of this machine
  std::string authority;  ///< host and port that may see the credential; empty for a path
  std::optional<Credential> credential;
};

/// Brings all objects that the remote's branches, tags and `named` (may be empty) need into `repository`. Writes no reference: the answer
/// says what they are. No redirect, no proxy, no insteadOf, and a certificate must be good.
RemoteRefs fetch_objects(git_repository* repository, const Endpoint& endpoint, const std::string& named, TransferListener& listener);

/// What the remote has, without bringing any of it.
RemoteRefs list_refs(const Endpoint& endpoint, TransferListener& listener);

/// Makes the commit that `source_ref` of `repository` points at the branch of `target` there, over what it is expected to be. Throws
/// conflict when it is not as expected, also when it changes meanwhile; permission_denied with the server's words when a hook or a rule
/// refuses.
void push_branch(git_repository* repository, const Endpoint& endpoint, const std::string& source_ref, const PushTarget& target,
                 TransferListener& listener);

/// What a failed exchange with an HTTP server means, judged by libgit2's text, for whoever named the repository.
struct Exchange {
  std::string url;
  std::string authority;
  bool lacked_credential = false;   ///< the server wants one and we have none
  bool refused_credential = false;  ///< the server asked again after it had ours
  std::string certificate_fault;    ///< empty when the certificate was good, or never seen
};
Error explain_exchange(const Error& failure, const Exchange& exchange);

}  // namespace forge::git
