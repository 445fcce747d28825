#include "orchestrator/git/diff.h"

#include <functional>
#include <map>
#include <random>

#include "tests/unit/git/git_fixture.h"

namespace forge::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using namespace std::string_literals;

std::string numbered(int lines, const std::string& end = "\n") {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "line " + std::to_string(i) + " of a text that is long enough" + end;
  return text;
}

std::string binary(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  bytes[0] = '\0';
  return bytes;
}

/// One entry of a tree in a test.
struct File {
  std::string content;
  enum class Kind { plain, executable, link } kind = Kind::plain;
};
using Files = std::map<std::string, File>;

const Files kBase{{"text", {numbered(60)}},
                  {"crlf.txt", {numbered(20, "\r\n")}},
                  {"no-newline", {"one\ntwo\nthree"}},
                  {"empty", {""}},
                  {"blob.bin", {binary(3000, 1)}},
                  {"run.sh", {"#!/bin/sh\nexit 0\n", File::Kind::executable}},
                  {"link", {"text", File::Kind::link}},
                  {"with blank/na me.txt", {numbered(10)}},
                  {"\u00fcml\u00e4ut/\u6587.txt", {numbered(10)}},
                  {"new\nline", {numbered(3)}},
                  {"quote\"d\\name\t", {numbered(3)}},
                  {"latin-\xe9", {numbered(3)}},
                  {"dir/a.c", {"int f(void) {\n  return 1;\n}\n\n" + numbered(30)}},
                  {"dir/sub/b.c", {numbered(25)}},
                  {"trailing", {"blank \n\t\n\n"}}};

class Diffs : public GitTest {
 protected:
  void SetUp() override {
    for (const auto& [path, file] : kBase) write(path, file);
    repo_.commit("base");
    base_ = cache().fetch(repo_.str(), "", soon());
  }

  void write(const std::string& path, const File& file) {
    const std::filesystem::path place = repo_.path() / path;
    if (file.kind == File::Kind::link) return std::filesystem::create_symlink(file.content, place);
    repo_.write(path, file.content);
    if (file.kind == File::Kind::executable) std::filesystem::permissions(place, std::filesystem::perms(0755));
  }

  /// Commits the difference between kBase and `wanted`.
  CommitBuilder::Result commit_files(const Files& wanted) {
    const auto builder = cache().build_commit(base_);
    for (const auto& [path, file] : kBase)
      if (!wanted.contains(path)) builder->remove(path);
    for (const auto& [path, file] : wanted) {
      if (file.kind == File::Kind::link) {
        builder->add_symlink(path, file.content);
      } else {
        add(*builder, path, file.content, file.kind == File::Kind::executable);
      }
    }
    return commit(*builder, "forge/diff-" + std::to_string(++commits_));
  }

  /// The tree that git makes of the base and `patch`.
  std::string applied(const std::string& patch) {
    repo_.git({"reset", "--quiet", "--hard"});
    repo_.git({"clean", "-qfdx"});
    const test::TempDir place;
    test::write_file(place / "patch", patch);
    try {
      repo_.git({"apply", "--index", "--binary", "--whitespace=nowarn", (place / "patch").string()});
    } catch (const Error& error) {
      return error.what();
    }
    return repo_.git({"write-tree"});
  }

  void expect_apply_equal(const Files& wanted, const std::string& what) {
    const auto made = commit_files(wanted);
    if (made.commit.empty()) return;
    const Diff diff = cache().diff(base_, made.commit, 10 << 20, soon());
    EXPECT_EQ(applied(diff.text), made.tree) << what << "\n" << diff.text;
    const std::string stat = in_mirror(base_, {"diff", "--shortstat", "-M50%", base_.commit, made.commit});
    EXPECT_THAT(stat, HasSubstr(std::to_string(diff.stat.files) + " file")) << what;
    if (diff.text.find("120000") != std::string::npos) return;  // git counts no lines of a link
    if (diff.stat.insertions > 0) {
      EXPECT_THAT(stat, HasSubstr(std::to_string(diff.stat.insertions) + " insertion")) << what;
    }
    if (diff.stat.deletions > 0) {
      EXPECT_THAT(stat, HasSubstr(std::to_string(diff.stat.deletions) + " deletion")) << what;
    }
  }

  void expect_apply_equal(const std::map<std::string, std::function<void(Files&)>>& cases) {
    for (const auto& [what, change] : cases) {
      Files files = kBase;
      change(files);
      expect_apply_equal(files, what);
    }
  }

  test::TempRepo repo_;
  Base base_;
  int commits_ = 0;
};

TEST_F(Diffs, OfEditsGitAppliesToTheSameTree) {
  expect_apply_equal({
      {"edit in the middle", [](Files& f) { f["text"].content.replace(700, 4, "EDIT"); }},
      {"last newline removed", [](Files& f) { f["text"].content.pop_back(); }},
      {"last newline added", [](Files& f) { f["no-newline"].content += "\n"; }},
      {"edit without a last newline", [](Files& f) { f["no-newline"].content = "one\n2\nthree"; }},
      {"carriage returns", [](Files& f) { f["crlf.txt"].content.replace(50, 3, "abc"); }},
      {"carriage returns dropped", [](Files& f) { std::erase(f["crlf.txt"].content, '\r'); }},
      {"empty file filled", [](Files& f) { f["empty"].content = "x"; }},
      {"file emptied", [](Files& f) { f["text"].content.clear(); }},
      {"empty file added and removed",
       [](Files& f) {
         f.erase("empty");
         f["dir/none"] = {""};
       }},
      {"binary edited", [](Files& f) { f["blob.bin"].content[1500] ^= 1; }},
      {"binary added", [](Files& f) { f["other.bin"] = {binary(5000, 7)}; }},
      {"binary removed", [](Files& f) { f.erase("blob.bin"); }},
      {"text becomes binary", [](Files& f) { f["text"].content = binary(500, 3); }},
  });
}

TEST_F(Diffs, OfModesAndKindsGitAppliesToTheSameTree) {
  expect_apply_equal({
      {"executable bit set", [](Files& f) { f["text"].kind = File::Kind::executable; }},
      {"executable bit taken, with an edit", [](Files& f) { f["run.sh"] = {"#!/bin/sh\nexit 1\n"}; }},
      {"link retargeted", [](Files& f) { f["link"].content = "dir/a.c"; }},
      {"link becomes a file", [](Files& f) { f["link"] = {"text"}; }},
      {"file becomes a link",
       [](Files& f) {
         f["text"] = {"empty", File::Kind::link};
       }},
      {"file becomes a directory",
       [](Files& f) {
         f.erase("text");
         f["text/inside"] = {numbered(60)};
       }},
      {"directory becomes a file",
       [](Files& f) {
         f.erase("dir/a.c");
         f.erase("dir/sub/b.c");
         f["dir"] = {"now a file\n"};
       }},
  });
}

TEST_F(Diffs, OfNamesGitAppliesToTheSameTree) {
  expect_apply_equal({
      {"renamed", [](Files& f) { f["moved/there"] = f.extract("text").mapped(); }},
      {"renamed and edited",
       [](Files& f) {
         f["moved/there"] = f.extract("text").mapped();
         f["moved/there"].content.replace(100, 10, "changed it");
       }},
      {"renamed with a mode",
       [](Files& f) {
         f["tool"] = f.extract("dir/a.c").mapped();
         f["tool"].kind = File::Kind::executable;
       }},
      {"binary renamed", [](Files& f) { f["with blank/x y.bin"] = f.extract("blob.bin").mapped(); }},
      {"odd names edited",
       [](Files& f) {
         for (auto& [path, file] : f)
           if (file.kind == File::Kind::plain && !file.content.empty() && path != "blob.bin") file.content += "more\n";
       }},
      {"odd names renamed",
       [](Files& f) {
         f["a\nb c"] = f.extract("with blank/na me.txt").mapped();
         f["\u00e9/\xff"] = f.extract("\u00fcml\u00e4ut/\u6587.txt").mapped();
         f[" lead"] = f.extract("dir/sub/b.c").mapped();
       }},
      {"names in git's own words",
       [](Files& f) {
         f["dev/null"] = {"x\n"};
         f["a b/b a"] = {"y\n"};
         f["b/a"] = {"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"};
       }},
      {"blanks at line ends", [](Files& f) { f["trailing"].content += " \n\t \n"; }},
      {"all gone but one",
       [](Files& f) {
         f = {{"text", f["text"]}};
       }},
  });
}

TEST_F(Diffs, OfRandomChangesGitAppliesToTheSameTree) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    Files files;
    for (const auto& [path, file] : kBase) {
      File copy = file;
      switch (below(6)) {
        case 0: continue;
        case 1: copy.content.insert(below(copy.content.size() + 1), "inserted\ntext"); break;
        case 2: copy.content.erase(below(copy.content.size() + 1), below(40)); break;
        case 3:
          if (copy.kind != File::Kind::link) copy.kind = copy.kind == File::Kind::plain ? File::Kind::executable : File::Kind::plain;
          break;
        default: break;
      }
      if (copy.kind == File::Kind::link && copy.content.empty()) continue;
      const std::string name = below(5) == 0 ? "moved " + std::to_string(below(3)) + "/" + std::to_string(files.size()) : path;
      files[name] = copy;
    }
    expect_apply_equal(files, "seed " + std::to_string(seed));
  }
}

TEST_F(Diffs, ShowRenamesAndWholeIdsAndNoTrailingBlanksInHunkHeaders) {
  Files files = kBase;
  files["dir/c.c"] = files.extract("dir/a.c").mapped();
  files["dir/c.c"].content += "more\n";
  files["blob.bin"].content += "x";
  files["text"].content.replace(1500, 4, "EDIT");
  const auto made = commit_files(files);
  const Diff diff = cache().diff(base_, made.commit, 1 << 20, soon());
  EXPECT_THAT(diff.text, AllOf(HasSubstr("similarity index 9"), HasSubstr("rename from dir/a.c\nrename to dir/c.c\n"),
                               HasSubstr("GIT binary patch\n"), Not(HasSubstr(" @@ \n"))));
  EXPECT_EQ(diff.stat.files, 3);
  EXPECT_EQ(diff.stat.insertions, 2);
  EXPECT_EQ(diff.stat.deletions, 1);
}

TEST_F(Diffs, NeverGrowPastTheirLimit) {
  Files files = kBase;
  files["large"] = {numbered(1000)};
  const auto made = commit_files(files);
  const auto size = static_cast<std::int64_t>(cache().diff(base_, made.commit, 1 << 20, soon()).text.size());
  EXPECT_NO_THROW(cache().diff(base_, made.commit, size, soon()));
  EXPECT_EQ(test::code_of([&] { cache().diff(base_, made.commit, size - 1, soon()); }), "limit_exceeded");
}

TEST_F(Diffs, DoNotReadAttributesOfTheTree) {
  Files files = kBase;
  files[".gitattributes"] = {"* -diff diff=evil filter=evil text eol=crlf\n"};
  files["text"].content += "seen\n";
  const auto made = commit_files(files);
  EXPECT_THAT(cache().diff(base_, made.commit, 1 << 20, soon()).text, AllOf(HasSubstr("+seen\n"), Not(HasSubstr("GIT binary patch"))));
}

}  // namespace
}  // namespace forge::git
