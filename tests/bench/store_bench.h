#pragma once

#include <iosfwd>

namespace forge::bench {

/// Trace events per second through the store, each caller waiting for its own commit, with 1 and with 16 callers, beside p50 and p95 of
/// one append. One line per count; about 300 bytes per event; on the disk of the temporary directory. Takes about 4 s.
void bench_trace_appends(std::ostream& out);

}  // namespace forge::bench
