#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace fs = std::filesystem;

// The pages that people read: README.md and docs/*.md.
namespace {

std::string text_of(const fs::path& page) {
  std::ifstream file(page);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found{"README.md"};
  for (const auto& entry : fs::directory_iterator("docs"))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

/// The first group of every match.
std::vector<std::string> all_matches(const std::string& text, const char* expression) {
  const std::regex pattern(expression);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) found.push_back((*match)[1]);
  return found;
}

/// The anchor that viewers make of a heading: small letters, blanks as hyphens, no other signs.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const unsigned char c : heading) {
    if (c == ' ' || c == '-') anchor += '-';
    if (std::isalnum(c) != 0 || c == '_') anchor += static_cast<char>(std::tolower(c));
  }
  return anchor;
}

bool has_anchor(const fs::path& page, const std::string& anchor) {
  std::ifstream file(page);
  for (std::string line; std::getline(file, line);)
    if (const auto blank = line.find(' ');
        line.starts_with('#') && blank != std::string::npos && anchor_of(line.substr(blank + 1)) == anchor)
      return true;
  return false;
}

TEST(Pages, LinkOnlyToWhatIsThere) {
  for (const fs::path& page : pages()) {
    for (const std::string& link : all_matches(text_of(page), "\\]\\(([^)\\s]+)\\)")) {
      if (link.find("://") != std::string::npos) continue;
      const auto hash = link.find('#');
      const fs::path target = hash == 0 ? page : page.parent_path() / link.substr(0, hash);
      EXPECT_TRUE(fs::exists(target)) << page << ": " << link;
      EXPECT_TRUE(hash == std::string::npos || has_anchor(target, link.substr(hash + 1))) << page << ": " << link;
    }
  }
}

TEST(Pages, AreAllReachableFromTheReadme) {
  const std::string readme = text_of("README.md");
  for (const fs::path& page : pages())
    EXPECT_TRUE(page == "README.md" || readme.find("](" + page.string() + ")") != std::string::npos) << page;
}

TEST(Pages, NameOnlySourcesThatAreThere) {
  for (const fs::path& page : pages()) {
    for (const std::string& path : all_matches(text_of(page), "`((?:orchestrator|adapters|tools|tests|docs|migrations)/[\\w./-]*)`"))
      EXPECT_TRUE(fs::exists(path)) << page << ": " << path;
  }
}

}  // namespace
