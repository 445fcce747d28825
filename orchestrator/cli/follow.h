#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "orchestrator/cli/api_client.h"

namespace forge::cli {

/// How long a lost server is waited for.
struct Patience {
  std::chrono::milliseconds first{250};  ///< the pause doubles each time
  std::chrono::milliseconds most{5000};
  std::chrono::milliseconds give_up{60'000};  ///< without one event or answer
};

/// A run that no process works on would be waited for in vain: throws unavailable then.
void check_attended(const ApiClient& client, const Run& run);

/// Hears the events of a run, each once and in order, until it has ended; returns it as it then is. A lost connection is taken up where
/// it broke off. On this machine this process takes the place of a command that has gone; a server is waited for.
/// Throws unavailable when the server stays away or nobody works on the run, and what the server refuses with.
Run follow_run(ApiClient& client, const std::string& job, int run, const std::function<void(const TraceEvent&)>& hear,
               const std::function<void(const std::string&)>& note, const Stop& stop, const Patience& patience = {});

}  // namespace forge::cli
