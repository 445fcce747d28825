#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

// The release build joins several files of a room into one translation unit, and which ones changes with every file that is added. So
// what stands at the beginning of a line in one anonymous namespace must not stand in another of the same room and namespace.
namespace {

constexpr std::array<std::string_view, 3> kTypes{"class ", "struct ", "enum class "};

std::string word_at(std::string_view line, std::size_t at) {
  const auto end = std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(),
                                    [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  return {line.begin() + static_cast<std::ptrdiff_t>(at), end};
}

/// What a line at the outermost indentation defines: a constant's or type's name, a function's whole signature; "" for nothing.
std::string defined_by(std::string_view line) {
  if (line.empty() || std::isalpha(static_cast<unsigned char>(line.front())) == 0) return "";
  for (const std::string_view type : kTypes) {
    if (line.starts_with(type)) return line.ends_with(';') ? "" : word_at(line, type.size());
  }
  const auto constant = line.find(" k");
  const auto value = line.find_first_of("={[(");
  if (constant < value && constant + 2 < line.size() && std::isupper(static_cast<unsigned char>(line[constant + 2])) != 0)
    return word_at(line, constant + 1);
  const auto body = line.rfind(") ");
  return value < body && line[value] == '(' && line.find('{', body) != std::string_view::npos ? std::string(line.substr(0, body + 1)) : "";
}

/// "forge::git kMaxBytes" and the like of every anonymous namespace in `text`.
std::vector<std::string> hidden_names(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream lines(text);
  std::string outer;
  bool hidden = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("namespace ") && line.ends_with('{')) {
      hidden = line == "namespace {";
      if (!hidden) outer = line.substr(10, line.size() - 12);
    } else if (line.starts_with('}') && line.find("namespace") != std::string::npos) {
      hidden = false;
    } else if (const std::string name = hidden ? defined_by(line) : ""; !name.empty()) {
      names.push_back(outer + " " + name);
    }
  }
  return names;
}

/// The folder whose files are joined: a room below `orchestrator`, a suite below `tests/unit`, else the first folders.
std::string joined_with(const fs::path& file) {
  std::string group;
  int depth = 0;
  for (auto part = file.begin(); part != std::prev(file.end()) && depth < 3; ++part, ++depth) {
    group += part->string() + "/";
    if (depth == 1 && group != "tests/unit/") break;
  }
  return group;
}

using Found = std::map<std::string, std::set<std::string>>;  // "group namespace name": the files

Found clashes(const fs::path& root) {
  Found found;
  for (const char* top : {"orchestrator", "adapters", "tools", "tests"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const fs::path path = entry.path().lexically_relative(root);
      const bool apart = path.string().find("/launcher/") != std::string::npos;  // built without unity
      if (path.extension() != ".cpp" || apart) continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      for (const auto& name : hidden_names(text.str())) found[joined_with(path) + " " + name].insert(path.string());
    }
  }
  std::erase_if(found, [](const auto& item) { return item.second.size() < 2; });
  return found;
}

TEST(Unity, NamesInAnonymousNamespacesDifferWithinARoom) {
  for (const auto& [name, files] : clashes(".")) {
    std::string all;
    for (const auto& file : files) all += " " + file;
    ADD_FAILURE() << name << " is defined in" << all;
  }
}

TEST(Unity, AClashIsFound) {
  const std::string file =
      "namespace forge::git {\nnamespace {\nusing std::string;\nconstexpr int kMax = 1;\nclass Later;\n"
      "struct Row {\n  int kInner = 1;\n};\nbool is_it(int a) { return a; }\n}  // namespace\nint open_to_all() { return 1; }\n}\n";
  EXPECT_EQ(hidden_names(file), (std::vector<std::string>{"forge::git kMax", "forge::git Row", "forge::git bool is_it(int a)"}));
  EXPECT_EQ(joined_with("orchestrator/git/a.cpp"), joined_with("orchestrator/git/sub/b.cpp"));
  EXPECT_NE(joined_with("tests/unit/git/a_test.cpp"), joined_with("tests/unit/net/a_test.cpp"));
}

}  // namespace
