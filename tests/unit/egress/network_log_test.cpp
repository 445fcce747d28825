#include "orchestrator/egress/network_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/trace_recorder.h"

namespace forge::egress {
namespace {

// Behind "*.example.com" a sandbox can think up hosts without end: neither memory nor trace may grow with them.
TEST(NetworkLog, ListsTheBytesOfManyHostsTogether) {
  test::TraceRecorder trace;
  NetworkLog log(&trace);
  constexpr int kHosts = 1000;
  for (int i = 0; i < kHosts; ++i) log.count("h" + std::to_string(i) + ".example.com", 443, 10);
  log.count("h0.example.com", 443, 5);
  EXPECT_EQ(log.total_bytes(), kHosts * 10 + 5);
  log.finish();
  const auto totals = trace.of<trace::Network>();
  ASSERT_EQ(totals.size(), NetworkLog::kMaxDecisions + 1);
  EXPECT_EQ(totals.front().host, "h0.example.com");
  EXPECT_EQ(totals.front().bytes, 15);
  EXPECT_EQ(totals.back().host, "other hosts");
  EXPECT_EQ(totals.back().bytes, (kHosts - static_cast<int>(NetworkLog::kMaxDecisions)) * 10);
}

}  // namespace
}  // namespace forge::egress
