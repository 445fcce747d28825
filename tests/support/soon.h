#pragma once

#include <chrono>

#include "orchestrator/base/stop.h"

namespace forge::test {

/// For waits that end by themselves in a working program: a deadline below ctest's, so that a failure names the wait.
inline Stop soon() { return Stop::after(std::chrono::seconds(50)); }

}  // namespace forge::test
