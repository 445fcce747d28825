#pragma once

#include <chrono>
#include <string>

#include "orchestrator/base/log.h"
#include "orchestrator/base/stop.h"
#include "orchestrator/git/network_job.h"

namespace forge::git {

struct NetworkOptions {
  std::string helper_program;
  std::chrono::milliseconds idle_limit;
  std::string ca_file;
};

/// Runs one transfer in a child process of its own, which is killed when `stop` says so or when nothing moves for the idle limit: libgit2
/// has no time-outs. The child works on the git directory alone, has bounded memory, an empty environment and no descriptor of ours but
/// one.
class Network {
 public:
  Network(NetworkOptions options, Log& log) : options_(std::move(options)), log_(log) {}

  /// Throws the errors of RepositoryCache.
  RemoteRefs list(const NetworkRequest& request, const Stop& stop);
  RemoteRefs fetch(const NetworkRequest& request, const Stop& stop);
  void push(const NetworkRequest& request, const Stop& stop);

 private:
  nlohmann::json run(NetworkRequest request, const Stop& stop);

  NetworkOptions options_;
  Log& log_;
};

}  // namespace forge::git
