#pragma once

#include <cstddef>
#include <string>

namespace forge {

/// Throws bad_input for a text of people that is over its cap, or holds a NUL byte: such texts become parts of prompts, commits and
/// commands, and libraries in C would cut them there. `remedy` says what to do about one that is too long.
void check_words(const std::string& field, const std::string& text, std::size_t most_bytes, const std::string& remedy = {});

}  // namespace forge
