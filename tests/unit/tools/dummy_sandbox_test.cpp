#include "tests/support/dummy_sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace forge::test {
namespace {

using sandbox::CommandSpec;
using sandbox::Ended;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

CommandSpec shell(const std::string& script) {
  CommandSpec command;
  command.argv = {"sh", "-c", script};
  return command;
}

struct Collected final : sandbox::ChangeSink {
  std::vector<std::string> changes;
  std::vector<std::string> findings;
  void change(const sandbox::Change& change, const Read& read) override {
    std::string content(16, '\0');
    content.resize(read(content.data(), content.size()));
    changes.push_back("amd"[static_cast<int>(change.kind)] + (" " + change.path) + "=" + content + change.link_target +
                      (change.executable ? "+x" : ""));
  }
  void finding(const std::string& kind, const std::string& path, const std::string&) override { findings.push_back(kind + " " + path); }
};

TEST(DummySandbox, RunsInItsOwnWorkspace) {
  DummySandbox box;
  const auto result = box.run(shell("pwd; echo hello > /workspace/a; cat; echo no >&2; exit 3"), Stop());
  EXPECT_EQ(result.exit.code, 3);
  EXPECT_EQ(result.out.text(), "/workspace\n");
  EXPECT_EQ(result.err.text(), "no\n");
  EXPECT_EQ(box.read_file("a", 100, Stop()), "hello\n");
  EXPECT_EQ(box.read_file("/workspace/a", 100, Stop()), "hello\n");
}

TEST(DummySandbox, MergesOutputAndKeepsTheWholeInAFile) {
  DummySandbox box;
  CommandSpec command = shell("for i in 1 2 3 4 5; do echo $i; echo $i >&2; done");
  command.merge_output = true;
  command.max_output_bytes = 10;
  command.keep_full_output = true;
  const auto result = box.run(command, Stop());
  EXPECT_EQ(result.out.head, "1\n");
  EXPECT_EQ(result.out.tail, "4\n4\n5\n5\n");
  EXPECT_EQ(result.out.cut_bytes, 10);
  EXPECT_EQ(box.read_file(result.full_output_path, 100, Stop()), "1\n1\n2\n2\n3\n3\n4\n4\n5\n5\n");
}

TEST(DummySandbox, KillsACommandThatTakesTooLong) {
  DummySandbox box;
  CommandSpec command = shell("echo begun; cat /dev/zero >/dev/null");
  command.timeout = std::chrono::milliseconds(100);
  const auto result = box.run(command, Stop());
  EXPECT_EQ(result.ended, Ended::timed_out);
  EXPECT_EQ(result.out.text(), "begun\n");
}

TEST(DummySandbox, ThrowsWhenItsCallerIsCancelled) {
  DummySandbox box;
  std::stop_source source;
  CommandSpec command = shell("echo begun; cat /dev/zero >/dev/null");
  command.on_output = [&](std::string_view, bool) { source.request_stop(); };
  EXPECT_THROW(box.run(command, Stop(source.get_token())), Error);
}

TEST(DummySandbox, ReportsChangesAgainstTheTreeThatWentIn) {
  DummySandbox before;
  std::ofstream(before.host_path("keep")) << "same";
  std::ofstream(before.host_path("edit")) << "old";
  std::ofstream(before.host_path("gone")) << "x";
  sandbox::SandboxSpec spec;
  spec.tree = sandbox::TreeSource{before.host_path("/workspace")};
  DummySandbox box(spec);
  box.run(shell("echo new > edit; rm gone; mkdir d; ln -s ../keep d/link; touch tool; chmod +x tool; mkfifo pipe"), Stop());
  box.halt(Stop());
  Collected sink;
  box.changes({}, sink, Stop());
  EXPECT_THAT(sink.changes, UnorderedElementsAre("m edit=new\n", "d gone=", "a d/link=../keep", "a tool=+x"));
  EXPECT_THAT(sink.findings, UnorderedElementsAre("fifo pipe"));
}

TEST(DummySandbox, FailsAsItIsTold) {
  DummySandbox box;
  box.failures.run = ErrorCode::unavailable;
  box.failures.runs_before_failure = 1;
  EXPECT_EQ(box.run(shell("true"), Stop()).exit.code, 0);
  try {
    box.run(shell("true"), Stop());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::unavailable);
  }
}

TEST(DummyDriver, CountsWhatIsReleased) {
  DummyDriver driver;
  auto box = driver.acquire({}, Stop());
  const std::string root = dynamic_cast<DummySandbox&>(*box).host_path("/workspace");
  EXPECT_EQ(driver.counts().live(), 1);
  box->run(shell("cat /dev/zero > /dev/null &"), Stop());
  box.reset();
  EXPECT_EQ(driver.counts().live(), 0);
  EXPECT_FALSE(std::filesystem::exists(root));
}

}  // namespace
}  // namespace forge::test
