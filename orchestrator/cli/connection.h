#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orchestrator/cli/api_client.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/cli/verb.h"

namespace forge::cli {

/// --server and --token. Empty = the data directory of this machine.
struct ServerChoice {
  std::string url;
  std::string token;
};
/// The two options, for every verb that works on jobs.
std::vector<Option> server_options(ServerChoice& choice);

/// Jobs within reach: over the network, of the server of this machine, or in this process.
struct Connection {
  /// Holds nothing while another process does the work; the client fills it when that has gone. First, so that it outlives the client.
  std::shared_ptr<std::unique_ptr<EngineHandle>> own;
  ApiClient client;
};

/// Throws invalid_argument for a URL that is none; unavailable when the owner of the data directory does not answer.
Connection connect(Context& context, const ServerChoice& choice, EngineUse use);

/// A whole id or a prefix of one, lower case. Throws invalid_argument for anything else.
std::string job_id(const std::string& text);

}  // namespace forge::cli
