#include "tests/functional/repository.h"

#include "orchestrator/base/error.h"

namespace forge::functional {

SmallRepo::SmallRepo(const Installation* owner) {
  write("README.md", "A small project.\n");
  write("src/main.py", "def main():\n    print('one')\n\n\nmain()\n");
  write("data/table.csv", "a,b\n1,2\n");
  write(".gitignore", "build/\n");
  base_ = commit("first");
  if (owner != nullptr) owner->give(path());
}

std::string tree_after_apply(const std::filesystem::path& repository, const std::string& commit, const std::string& diff) {
  const test::TempDir clone;
  test::run_git(clone.path(), {"-c", "safe.directory=*", "clone", "--quiet", "--no-checkout", repository.string(), "tree"});
  const auto tree = clone / "tree";
  test::run_git(tree, {"checkout", "--quiet", "--detach", commit});
  test::write_file(clone / "the.diff", diff);
  test::run_git(tree, {"apply", "--index", "--whitespace=nowarn", (clone / "the.diff").string()});
  return test::run_git(tree, {"write-tree"});
}

}  // namespace forge::functional
