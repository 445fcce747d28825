#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace forge::sandbox {
namespace {

namespace fs = std::filesystem;

/// "Suite.Name" of every test that the sources below `directory` define.
std::set<std::string> tests_in(const fs::path& directory) {
  std::set<std::string> found;
  for (const fs::directory_entry& file : fs::recursive_directory_iterator(directory)) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = test::read_file(file.path());
    for (std::size_t at = text.find("TEST"); at != std::string::npos; at = text.find("TEST", at + 4)) {
      const std::size_t open = text.find('(', at);
      const std::size_t close = open == std::string::npos ? open : text.find(')', open);
      if (close == std::string::npos || open > at + 6) continue;
      std::string name = text.substr(open + 1, close - open - 1);
      const std::size_t comma = name.find(',');
      if (comma == std::string::npos) continue;
      const std::size_t second = name.find_first_not_of(" \n", comma + 1);
      found.insert(name.substr(0, comma) + "." + name.substr(second));
    }
  }
  return found;
}

TEST(SecurityPage, NamesOnlyTestsThatExist) {
  const std::set<std::string> known = tests_in(test::source_file("tests"));
  ASSERT_TRUE(known.count("SecurityPage.NamesOnlyTestsThatExist"));
  const std::string page = test::read_file(test::source_file("docs/security.md"));
  int named = 0;
  for (std::size_t at = page.find('`'); at != std::string::npos; at = page.find('`', at + 1)) {
    const std::size_t end = page.find('`', at + 1);
    ASSERT_NE(end, std::string::npos) << "an open quotation";
    const std::string word = page.substr(at + 1, end - at - 1);
    at = end;
    const std::size_t dot = word.find('.');
    const bool test_name = dot != std::string::npos && word.find_first_of(" /") == std::string::npos && std::isupper(word.front()) != 0;
    if (!test_name) continue;
    ++named;
    EXPECT_TRUE(known.count(word)) << word;
  }
  EXPECT_GT(named, 40);
}

}  // namespace
}  // namespace forge::sandbox
