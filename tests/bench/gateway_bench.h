#pragma once

#include <iosfwd>

namespace forge::bench {

/// What the model gateway adds, beside the same upstream asked directly in the same run, on loopback: to a whole request (goal: p50 at most
/// 1 ms) and to each streamed delta (at most 2 ms), at 1 and at 20 streams; requests one upon the other without any rest, which a model
/// never allows and which shows the work of a request; then 200 streams at once, with errors and memory. Both ends live in this process.
/// Takes about 15 s.
void bench_gateway(std::ostream& out);

}  // namespace forge::bench
