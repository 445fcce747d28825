#pragma once

#include <string>

#include "orchestrator/base/fd.h"

namespace forge::sandbox::local {

/// The system call policy of every sandbox as the launcher takes it: classic BPF programs, each after its length (4 bytes). Two of them:
/// which calls exist at all (everything else answers ENOSYS, so that libraries fall back), and which arguments are refused (EPERM).
/// Wrong architectures (i386, x32) kill. Costs milliseconds: made once and kept. Throws sandbox_unavailable.
std::string compile_filters();

/// A sealed memory file that holds `content`; a child may read it, nobody can change it any more.
UniqueFd sealed_file(const char* name, std::string_view content);

}  // namespace forge::sandbox::local
