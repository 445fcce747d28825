#pragma once

#include <iosfwd>

namespace forge::bench {

/// What Forge adds before an agent's first tool call: from create() to the first `tool_call` event of a run on a warm small repository,
/// in the real local sandbox, with a scripted model that answers at once. Goal: p50 at most 80 ms.
void bench_job_overhead(std::ostream& out);

}  // namespace forge::bench
