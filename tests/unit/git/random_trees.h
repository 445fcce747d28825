#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "orchestrator/base/text.h"
#include "orchestrator/git/hunk_patch.h"

namespace forge::git {

/// One entry of a tree in a test.
struct RandomFile {
  std::string mode = "100644";
  std::string content;  ///< of a submodule: 40 hex digits
};
using RandomTree = std::map<std::string, RandomFile>;

/// Trees before and after an agent, by seed: every kind of change that git can tell, also those that stand in each other's way.
class RandomTrees {
 public:
  explicit RandomTrees(unsigned seed) : random_(seed) {
    for (std::size_t i = 0; i < 4 + below(7); ++i) before_[new_path()] = any_file();
    for (int i = 0; i < 2; ++i) before_["dir " + std::to_string(below(2)) + "/" + std::to_string(i)] = text_file(30);
    before_ = without_nested(before_);
    after_ = before_;
    if (seed == 0) rewrite_large_file();
    for (const auto& [path, file] : before_)
      if (after_.contains(path) && !one_in(3)) change(path);
    for (std::size_t i = 0; i < below(3); ++i) after_[new_path()] = any_file();
    after_ = without_nested(after_);
  }

  const RandomTree& before() const { return before_; }
  const RandomTree& after() const { return after_; }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::string new_path() {
    static const std::vector<std::string> places{"",     "",     "src/", "src/deep/er/", "with blank/", "\u00fcml\u00e4ut/", "quote\"d\\/",
                                                 "SRC/", "n\tl/"};
    static const std::vector<std::string> names{"a",      "b.c",        "Readme", "README", "na me",
                                                "\u6587", "latin-\xe9", "x\"y",   "-dash",  "line\nbreak"};
    const std::string name = one_in(2) ? names[below(names.size())] : "file " + std::to_string(below(40));
    return places[below(places.size())] + name;
  }

  std::string end() { return crlf_ ? "\r\n" : "\n"; }

  /// Half from a few words, so that blocks repeat; half like no other, so that renames are found.
  std::string line() {
    static const std::vector<std::string> words{
        "", "{", "}", "  return 1;", "int f(void) {", "@@ -1,3 +1,3 @@", "--- a/x", "+++ b/x", "\\ No newline", "caf\xe9", "\t "};
    return (one_in(2) ? words[below(words.size())] : "line " + std::to_string(random_()) + " of a text") + end();
  }

  RandomFile text_file(std::size_t most_lines) {
    crlf_ = one_in(5);
    RandomFile file;
    for (std::size_t i = below(most_lines); i > 0; --i) file.content += line();
    crlf_ = false;
    if (one_in(6) && !file.content.empty()) file.content.pop_back();
    if (one_in(6)) file.mode = "100755";
    return file;
  }

  std::string bytes(std::size_t size) {
    std::string all(size, '\0');
    for (std::size_t i = 1; i < size; ++i) all[i] = static_cast<char>(random_());
    return all;
  }

  std::string object_id() {
    std::string id;
    while (id.size() < 40) id += "0123456789abcdef"[below(16)];
    return id;
  }

  RandomFile any_file() {
    switch (below(12)) {
      case 0: return {"100644", ""};
      case 1: return {"100644", "one line\n"};
      case 2: return {"100644", "one line without an end"};
      case 3: return {"100644", bytes(1 + below(400))};
      case 4: return {"120000", "target " + std::to_string(below(5))};
      case 5: return {"160000", object_id()};
      default: return text_file(90);
    }
  }

  static bool is_file(const RandomFile& file) { return file.mode.starts_with("100"); }

  void edit(RandomFile& file) {
    if (file.mode == "160000") {
      file.content = object_id();
    } else if (file.mode == "120000") {
      file.content += "x";
    } else if (file.content.find('\0') != std::string::npos) {
      file.content[below(file.content.size() - 1) + 1] ^= 1;
    } else {
      edit_lines(file.content);
    }
  }

  void edit_lines(std::string& text) {
    crlf_ = text.find("\r\n") != std::string::npos;
    for (std::size_t i = 1 + below(4); i > 0; --i) {
      const auto from = line_start(text, below(text.size() + 1));
      const auto to = one_in(2) ? from : line_start(text, std::min(text.size(), from + 1 + below(120)));
      std::string lines;
      for (std::size_t n = one_in(3) ? 0 : 1 + below(4); n > 0; --n) lines += line();
      text.replace(from, to - from, lines);
    }
    crlf_ = false;
    if (one_in(8) && text.ends_with('\n')) text.pop_back();
    if (one_in(8) && !text.empty() && !text.ends_with('\n')) text += '\n';
  }

  static std::size_t line_start(const std::string& text, std::size_t at) {
    const auto end = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    return end == std::string::npos ? 0 : end + 1;
  }

  void change(const std::string& path) {
    switch (below(14)) {
      case 0: after_.erase(path); break;
      case 1: move(path, new_path()); break;
      case 2: move_and_edit(path, new_path()); break;
      case 3: flip_mode(path); break;
      case 4: retype(path); break;
      case 5: move(path, path + "/inside"); break;  // a file becomes a directory
      case 6: fold_directory(path); break;
      case 7: move(path, lower_ascii(path)); break;
      case 8: std::erase(after_[path].content, '\r'); break;
      case 9: refill(path); break;
      case 10: after_[path] = any_file(); break;
      default: edit(after_[path]); break;
    }
  }

  void move(const std::string& from, const std::string& to) {
    RandomFile file = after_[from];
    after_.erase(from);
    after_[to] = std::move(file);
  }
  void move_and_edit(const std::string& from, const std::string& to) {
    move(from, to);
    edit(after_[to]);
    if (one_in(3)) flip_mode(to);
  }
  void flip_mode(const std::string& path) {
    RandomFile& file = after_[path];
    if (is_file(file)) file.mode = file.mode == "100644" ? "100755" : "100644";
    if (one_in(2)) edit(file);
  }
  void retype(const std::string& path) {
    RandomFile& file = after_[path];
    if (is_file(file)) {
      file = one_in(2) ? RandomFile{"120000", "somewhere"} : RandomFile{"160000", object_id()};
    } else {
      file = text_file(20);
    }
  }
  /// All below the top directory of `path` goes, and a file comes in its place.
  void fold_directory(const std::string& path) {
    const auto slash = path.find('/');
    if (slash == std::string::npos) return edit(after_[path]);
    const std::string top = path.substr(0, slash);
    std::erase_if(after_, [&](const auto& one) { return one.first.starts_with(top + "/"); });
    after_[top] = text_file(30);
  }
  /// The file moves away, and another type of file takes its place.
  void refill(const std::string& path) {
    move_and_edit(path, new_path());
    after_[path] = {"120000", "refilled"};
  }

  void rewrite_large_file() {
    std::string old_text;
    std::string new_text;
    for (int i = 0; i < 5000; ++i) {
      old_text += "old " + std::to_string(i) + "\n";
      new_text += "new " + std::to_string(i) + "\n";
    }
    const std::string kept = "kept\nkept\nkept\nkept\nkept\nkept\nkept\n";
    before_["large"] = {"100644", old_text + kept + old_text};
    after_["large"] = {"100644", new_text + kept + new_text};
  }

  /// A path below a file cannot be in a tree with it: the file stays.
  static RandomTree without_nested(const RandomTree& tree) {
    RandomTree kept;
    for (const auto& [path, file] : tree) {
      bool nested = file.mode == "120000" && file.content.empty();
      for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
        nested = nested || tree.contains(path.substr(0, slash));
      if (!nested) kept[path] = file;
    }
    return kept;
  }

  std::mt19937 random_;
  bool crlf_ = false;
  RandomTree before_;
  RandomTree after_;
};

/// Begins a commit in a stream for git fast-import.
inline void begin_commit(std::string& stream, const std::string& reference) {
  stream += "commit " + reference + "\ncommitter Test <test@test.invalid> 1767225600 +0000\ndata 0\n";
}
/// Adds the files of `tree` to it, in the directory `top`.
inline void add_files(std::string& stream, const std::string& top, const RandomTree& tree) {
  for (const auto& [path, file] : tree) {
    const bool submodule = file.mode == "160000";
    stream += "M " + file.mode + " " + (submodule ? file.content : "inline") + " " + quoted_path(top + "/" + path) + "\n";
    if (!submodule) stream += "data " + std::to_string(file.content.size()) + "\n" + file.content + "\n";
  }
}

}  // namespace forge::git
