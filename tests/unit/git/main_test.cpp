#include <gtest/gtest.h>

#include <string_view>

#include "orchestrator/git/repository_cache.h"

// libgit2 1.5.1 leaks what it matches names of extensions with, when it opens a repository of format 1 (SHA-256, partial clones).
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name is the sanitizer's.
extern "C" const char* __lsan_default_suppressions() { return "leak:libpcre2-8\n"; }

// The tests are their own network child: `unit_git git-network` is what CacheOptions::helper_program starts.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "git-network") return forge::git::run_network_child();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
