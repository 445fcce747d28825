#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "orchestrator/base/text.h"

namespace forge::cli {

/// Colours, or nothing: NO_COLOR, pipes and files get plain text.
struct Paint {
  bool on = false;
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string red(std::string_view text) const { return wrap("31", text); }
  std::string green(std::string_view text) const { return wrap("32", text); }
  std::string yellow(std::string_view text) const { return wrap("33", text); }
  std::string cyan(std::string_view text) const { return wrap("36", text); }

 private:
  std::string wrap(const char* code, std::string_view text) const;
};

/// Thrown where the reader of standard output has gone (`forge show ID --diff | head`): nothing is wrong, and nobody is left to tell.
struct OutputClosed {};

/// What a verb writes to. The streams outlive it.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  Paint out_paint;
  Paint err_paint;
  std::size_t width = 100;  ///< columns of the terminal; what is not one gets this, too

  /// Writes to standard output and flushes. Throws OutputClosed for a closed pipe, unavailable for a full disk and the like.
  void print(std::string_view text) const;
  /// Writes one line to standard error.
  void note(std::string_view line) const;
};

/// Looks at this process's descriptors 1 and 2, and at NO_COLOR, TERM and COLUMNS.
Console standard_console();

/// `harmless`, on one line, at most `columns` characters, "..." where it was cut; blanks at both ends go.
std::string one_line(std::string_view text, std::size_t columns);
/// The same for a line of a program's output, which keeps its indentation.
std::string fitted(std::string_view line, std::size_t columns);
/// Characters of UTF-8 text, which is what columns are counted as.
std::size_t columns_of(std::string_view text);
/// Padded with spaces to `columns`; never cut.
std::string padded(std::string_view text, std::size_t columns);

}  // namespace forge::cli
