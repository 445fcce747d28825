#pragma once

#include <iosfwd>

namespace forge::bench {

/// 5,000 idle event streams through the whole HTTP door, with a fake engine behind it: resident memory before and with them, p50 and
/// p95 of a plain request without and with them, and the time in which one event reaches them all. Both ends live in this process, so
/// each stream takes two descriptors; fewer streams are opened, and that is said, where the limit is lower. Takes about 5 s.
void bench_event_streams(std::ostream& out);

}  // namespace forge::bench
