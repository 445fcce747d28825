#pragma once

#include <string>
#include <string_view>

namespace forge::test {

/// Compares `text` with the stored file `path`, relative to the repository's root, and fails the test where they differ.
/// With FORGE_ACCEPT=1 in the environment it writes the file instead and the test is skipped, so that accepting never passes.
/// A skip ends only this call: a test may accept several files in one go.
void expect_golden(const std::string& path, std::string_view text);

}  // namespace forge::test
