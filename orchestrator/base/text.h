#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace forge {

/// Valid UTF-8 with each bad sequence replaced by U+FFFD, and NUL too.
struct CleanText {
  std::string text;
  std::size_t replaced = 0;  ///< how many replacements
};
CleanText to_utf8(std::string_view bytes);
/// NUL counts as a character here.
bool is_utf8(std::string_view bytes);

/// Text of strangers (agents, tools, repositories) made harmless for whoever reads it in a terminal or a log: control characters other than
/// line break and tab become ^X, so that no output can move the cursor, set titles or write to the clipboard; what turns the direction of
/// text becomes '?'. Bad UTF-8 is replaced. Clean text stays as it is.
std::string harmless(std::string_view text);

/// Head and tail of a text that is too long, cut at line borders where a line fits, never inside a UTF-8 sequence.
struct HeadTail {
  std::string head;
  std::string tail;  ///< empty when nothing was cut
  std::size_t cut_bytes = 0;
  std::size_t cut_lines = 0;  ///< lines of which all or a part is missing
};
/// `head_share` percent of the room goes to the head. Both limits hold: lines and bytes.
HeadTail cut_middle(std::string_view text, std::size_t max_bytes, std::size_t max_lines, int head_share);

/// Splits at '\n'; a last line without one counts. The lines are views into `text`, so a temporary is refused: it would be gone
/// before a loop over its lines begins.
std::vector<std::string_view> split_lines(std::string_view text);
template <std::same_as<std::string> Temporary>
std::vector<std::string_view> split_lines(Temporary&& text) = delete;
/// All parts, also empty ones; nothing for an empty text.
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string lower_ascii(std::string_view text);

/// "1.2 MiB", for people.
std::string human_bytes(std::size_t bytes);
/// "12.3 s", "4 min 5 s", "230 ms", for people.
std::string human_duration_ms(long long ms);

std::string base64(std::string_view bytes);
std::string hex(std::string_view bytes);

/// The entry of `known` nearest to `word` by edit distance (at most a third of its length), or "".
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace forge
