#include "orchestrator/egress/resolver.h"

#include <algorithm>

#include "orchestrator/base/error.h"
#include "orchestrator/base/process.h"
#include "orchestrator/base/text.h"

namespace forge::egress {
namespace {

constexpr std::size_t kMaxAnswerBytes = 64 << 10;

/// Lines of getent: address, blanks, kind of socket, name. Each address comes once per kind.
std::vector<Address> parse_answer(std::string_view text) {
  std::vector<Address> found;
  for (const std::string_view line : split_lines(text)) {
    const auto address = Address::parse(line.substr(0, line.find(' ')));
    if (address && std::find(found.begin(), found.end(), *address) == found.end()) found.push_back(*address);
  }
  return found;
}

std::vector<Address> resolve(const std::string& host, const Stop& stop) {
  SpawnOptions options;
  options.argv = {"/usr/bin/getent", "ahosts", host};
  options.env = {"PATH=/usr/bin:/bin", "LC_ALL=C"};
  const Output output = run_command(options, "", kMaxAnswerBytes, stop);
  std::vector<Address> found = parse_answer(output.out);
  if (found.empty()) throw Error(ErrorCode::not_found, "no address for " + host);
  return found;
}

}  // namespace

Resolve system_resolver() { return resolve; }

}  // namespace forge::egress
