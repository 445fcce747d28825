#pragma once

#include <bitset>
#include <string_view>
#include <vector>

namespace forge::git {

/// One line of a .gitignore, as gitignore(5) reads it. Matching takes at most as many steps as pattern times path is long: patterns come
/// from repositories, and trying and going back, as git and libgit2 do, needs longer than anybody waits for a handful of stars.
class IgnorePattern {
 public:
  explicit IgnorePattern(std::string_view line);

  /// "!": what matches is not ignored.
  bool negated() const { return negated_; }
  /// `path` is relative to the directory of the .gitignore, without a slash at either end.
  bool matches(std::string_view path, bool is_directory) const;

 private:
  enum class Kind {
    byte,      ///< one byte of `bytes`
    star,      ///< any bytes but slashes, also none
    anything,  ///< any bytes, also none
    maybe      ///< the next two elements or nothing in their place
  };
  struct Element {
    Kind kind = Kind::byte;
    std::bitset<256> bytes = {};
  };
  using States = std::vector<char>;  // of each element: whether matching may stand before it

  void compile(std::string_view text);
  void enter(States& states, std::size_t at) const;
  bool matches_text(std::string_view text) const;

  std::vector<Element> elements_;
  bool negated_ = false;
  bool only_directories_ = false;
  bool base_name_ = false;  // a pattern without a slash: for the last name of a path, in any directory
};

/// The patterns of a file in its order, without comments, empty lines, and lines too long to be meant.
std::vector<IgnorePattern> read_ignore_patterns(std::string_view text);

}  // namespace forge::git
