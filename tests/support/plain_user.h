#pragma once

#include <functional>

namespace forge::test {

/// Runs `body` in a child process as a user without rights (uid 65534 when the test runs as root, ourselves otherwise), because
/// root passes every permission check. Returns what `body` returned, 0..200; 201 when it threw (the text goes to standard error).
/// Call it before the test starts threads.
int as_plain_user(const std::function<int()>& body);

}  // namespace forge::test
