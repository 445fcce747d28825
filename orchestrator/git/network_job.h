#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/git/location.h"
#include "orchestrator/git/push_target.h"
#include "orchestrator/git/remote_refs.h"

namespace forge::git {

/// What the network child is asked to do: one JSON object on its descriptor 3. The credential goes this way and no other.
struct NetworkRequest {
  enum class Operation { list, fetch, push };
  Operation operation = Operation::fetch;
  std::string git_dir;  ///< the mirror; of a list empty
  Location remote;
  std::optional<Credential> credential;
  std::string named;       ///< fetch: one reference beside branches and tags; may be empty
  std::string source_ref;  ///< push: reference of the mirror that points at the commit
  PushTarget target;       ///< push
  std::string ca_file;     ///< authorities trusted instead of the machine's; empty: the machine's
};

/// The child answers with JSON lines: {"phase": ...} and {"moved": true} while it works, and {"refs": ...}, {"pushed": true} or {"error":
/// ...} at the end.
nlohmann::json to_json(const NetworkRequest& request);
NetworkRequest request_from(const nlohmann::json& json);
nlohmann::json to_json(const RemoteRefs& refs);
RemoteRefs refs_from(const nlohmann::json& json);
nlohmann::json to_json(const Error& error);
Error error_from(const nlohmann::json& json);

inline constexpr int kRequestFd = 3;
inline constexpr const char* kNetworkVerb = "git-network";

}  // namespace forge::git
