#pragma once

#include <filesystem>
#include <string>

#include "tests/functional/installation.h"
#include "tests/support/temp_repo.h"

namespace forge::functional {

/// A small repository with one commit on `main`: README.md, src/main.py, data/table.csv, .gitignore (build/).
class SmallRepo : public test::TempRepo {
 public:
  explicit SmallRepo(const Installation* owner = nullptr);
  const std::string& base() const { return base_; }

 private:
  std::string base_;
};

/// Tree id that `diff` makes of `commit`, by git's own apply in a fresh clone.
std::string tree_after_apply(const std::filesystem::path& repository, const std::string& commit, const std::string& diff);

}  // namespace forge::functional
