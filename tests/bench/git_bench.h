#pragma once

#include <iosfwd>

namespace forge::bench {

/// A work tree for a run of a generated 10,000-file repository beside `git clone` from the same path, in turns: with the commit checked out
/// already (goal: at most 0.2 of a clone), and for the first run on a new commit (at most 1.2). Takes about a minute.
void bench_work_tree(std::ostream& out);

}  // namespace forge::bench
