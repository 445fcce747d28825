#include "orchestrator/egress/network_log.h"

#include <array>

namespace forge::egress {

std::string_view name_of(Verdict verdict) {
  static constexpr std::array<std::string_view, 6> kNames{"allowed",      "denied_host", "denied_address",
                                                          "denied_bytes", "unresolved",  "unreachable"};
  static_assert(kNames.size() == static_cast<std::size_t>(Verdict::unreachable) + 1);
  return kNames.at(static_cast<std::size_t>(verdict));
}

void NetworkLog::note(const std::string& host, int port, Verdict verdict, const std::string& hint) {
  if (noted_.size() > kMaxDecisions || !noted_.emplace(host, port, verdict).second || trace_ == nullptr) return;
  if (noted_.size() > kMaxDecisions) {
    trace_->append(trace::LogLine{"warn", "more than " + std::to_string(kMaxDecisions) + " network decisions: the rest is not listed"});
  } else {
    trace_->append(trace::Network{host, port, std::string(name_of(verdict)), hint, 0});
  }
}

void NetworkLog::count(const std::string& host, int port, std::int64_t bytes) {
  total_ += bytes;
  const auto known = bytes_.find({host, port});
  if (known != bytes_.end()) {
    known->second += bytes;
  } else if (bytes_.size() < kMaxDecisions) {
    bytes_.emplace(std::pair(host, port), bytes);
  } else {
    other_bytes_ += bytes;
  }
}

// By host, so that a person sees where the bytes went without adding up connections.
void NetworkLog::finish() {
  if (trace_ == nullptr) return;
  for (const auto& [where, bytes] : bytes_) trace_->append(trace::Network{where.first, where.second, "total", "", bytes});
  if (other_bytes_ > 0) trace_->append(trace::Network{"other hosts", 0, "total", "", other_bytes_});
  bytes_.clear();
  other_bytes_ = 0;
}

}  // namespace forge::egress
