#include <map>
#include <string>
#include <string_view>

#include "orchestrator/assembly/services.h"
#include "orchestrator/cli/app.h"
#include "orchestrator/git/repository_cache.h"

extern char** environ;

namespace {

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace

int main(int argc, char** argv) {
  // The killable child of a network transfer: not a verb for people, and it must not read any configuration.
  if (argc == 2 && std::string_view(argv[1]) == "git-network") return forge::git::run_network_child();
  forge::assembly::RealServices services(environment());
  return forge::cli::run_cli(argc, argv, services);
}
