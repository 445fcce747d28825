#pragma once

#include <iosfwd>

namespace forge::bench {

/// Prints p50, p95 and the ratios that issue and design set goals for; a candidate that is not installed is named as skipped.
/// Throws when a sandbox cannot be made here. Takes about half a minute.
void bench_sandbox(std::ostream& out);

}  // namespace forge::bench
