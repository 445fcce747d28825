#include "tests/support/paths.h"

namespace forge::test {

std::string built_program(const std::string& name) { return std::string(FORGE_BIN_DIR "/") + name; }
std::string source_file(const std::string& relative) { return std::string(FORGE_SOURCE_DIR "/") + relative; }

}  // namespace forge::test
