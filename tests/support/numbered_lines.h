#pragma once

#include <string>

namespace forge::test {

/// "line 1\nline 2\n...": a text in which every line is its own.
inline std::string numbered_lines(int lines) {
  std::string text;
  for (int i = 1; i <= lines; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

}  // namespace forge::test
