#include "orchestrator/domain/words.h"

#include <fmt/format.h>

#include "orchestrator/base/error.h"

namespace forge {

void check_words(const std::string& field, const std::string& text, std::size_t most_bytes, const std::string& remedy) {
  if (text.size() > most_bytes) throw bad_input(field, fmt::format("longer than {} bytes", most_bytes), remedy);
  if (text.find('\0') != std::string::npos) throw bad_input(field, "holds a NUL byte");
}

}  // namespace forge
