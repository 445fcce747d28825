#pragma once

namespace forge::sandbox::local::launcher {

/// Pid 1 inside: starts commands that Forge asks for over `control`, reaps what ends, ends itself (and with it everything) when Forge's
/// end closes. It lives among hostile processes of the same user: it is not dumpable, holds no capability, and nothing it says is believed.
[[noreturn]] void supervise(int control);

}  // namespace forge::sandbox::local::launcher
