#include "orchestrator/cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::cli {
namespace {

// Narrower terminals get lines that wrap: cutting further would leave nothing to read.
constexpr std::size_t kLeastWidth = 40;
constexpr std::size_t kPlainWidth = 100;

/// NO_COLOR counts by being there with any text but the empty one.
bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::size_t terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kPlainWidth;
  return std::max<std::size_t>(size.ws_col, kLeastWidth);
}

}  // namespace

std::string Paint::wrap(const char* code, std::string_view text) const {
  if (!on || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

void Console::print(std::string_view text) const {
  errno = 0;
  out << text << std::flush;
  if (out) return;
  if (errno == EPIPE) throw OutputClosed{};
  throw public_failure(ErrorCode::unavailable, "standard output cannot be written");
}

void Console::note(std::string_view line) const { err << line << '\n' << std::flush; }

Console standard_console() {
  const char* term = std::getenv("TERM");
  const bool plain = is_set("NO_COLOR") || (term != nullptr && std::string_view(term) == "dumb");
  const bool out_terminal = ::isatty(STDOUT_FILENO) == 1;
  const bool err_terminal = ::isatty(STDERR_FILENO) == 1;
  return {.out = std::cout,
          .err = std::cerr,
          .out_is_terminal = out_terminal,
          // A dumb terminal cannot take a status line back.
          .err_is_terminal = err_terminal && !(term != nullptr && std::string_view(term) == "dumb"),
          .out_paint = {out_terminal && !plain},
          .err_paint = {err_terminal && !plain},
          .width = err_terminal ? terminal_width() : kPlainWidth};
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string fitted(std::string_view text, std::size_t columns) {
  // A huge argument need not be cleaned whole to show its beginning; a character has 4 bytes at most.
  const std::size_t enough = columns * 4 + 4;
  std::string line = harmless(text.substr(0, enough));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  while (line.ends_with(' ')) line.pop_back();
  if (text.size() <= enough && columns_of(line) <= columns) return line;
  const std::size_t keep = columns > 3 ? columns - 3 : 0;
  std::size_t at = 0;
  for (std::size_t seen = 0; at < line.size(); ++at)
    if (!is_continuation(line[at]) && ++seen > keep) break;
  return line.substr(0, at) + "...";
}

std::string one_line(std::string_view text, std::size_t columns) { return fitted(trim(text), columns); }

std::string padded(std::string_view text, std::size_t columns) {
  const std::size_t have = columns_of(text);
  return std::string(text) + std::string(have < columns ? columns - have : 0, ' ');
}

}  // namespace forge::cli
