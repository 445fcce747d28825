#pragma once

#include <string>

namespace forge::test {

/// A program of this build: built_program("forge-sandbox").
std::string built_program(const std::string& name);

/// A file of the source tree: source_file("docs/security.md").
std::string source_file(const std::string& relative);

}  // namespace forge::test
