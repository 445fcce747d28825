#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "orchestrator/domain/trace.h"

namespace forge::egress {

/// What the proxy decided about a request. The names stand in the trace.
enum class Verdict {
  allowed,
  denied_host,     ///< no rule names it
  denied_address,  ///< the name stands for no public address
  denied_bytes,    ///< the sandbox has used up its bytes
  unresolved,      ///< the name has no address
  unreachable,     ///< no address took the connection
};
std::string_view name_of(Verdict verdict);

/// Tells a run's trace about network decisions: each host, port and verdict once, and at the end how many bytes went where. Used by one
/// thread.
class NetworkLog {
 public:
  /// A sandbox that tries many hosts must not fill the trace: after so many decisions one line says that there are more.
  static constexpr std::size_t kMaxDecisions = 200;

  /// `trace` may be null.
  explicit NetworkLog(TraceSink* trace) : trace_(trace) {}

  void note(const std::string& host, int port, Verdict verdict, const std::string& hint);
  /// Bytes that went to or came from an allowed host.
  void count(const std::string& host, int port, std::int64_t bytes);
  std::int64_t total_bytes() const { return total_; }
  /// Appends a `total` for each host that was allowed; one for all together after the first kMaxDecisions.
  void finish();

 private:
  TraceSink* trace_;
  std::set<std::tuple<std::string, int, Verdict>> noted_;
  std::map<std::pair<std::string, int>, std::int64_t> bytes_;
  std::int64_t other_bytes_ = 0;  // of hosts after the first kMaxDecisions
  std::int64_t total_ = 0;
};

}  // namespace forge::egress
