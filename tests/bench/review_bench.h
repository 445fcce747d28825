#pragma once

#include <iosfwd>

namespace forge::bench {

/// The review of a run whose diff has 20,000 lines in 2,000 hunks of 20 files, as the HTTP door asks for it: the first load, which cuts the
/// diff into hunks, later ones, a PATCH of one verdict and one of all, and an apply with every other hunk, without and with its push.
/// Beside them git's own diff and apply of the same, as processes. Takes about 20 s.
void bench_review(std::ostream& out);

}  // namespace forge::bench
