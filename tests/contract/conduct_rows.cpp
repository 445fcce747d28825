#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/contract/row.h"
#include "tests/contract/stage.h"
#include "tests/functional/remains.h"

namespace forge::contract {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCommit = "git -c user.name=agent -c user.email=agent@localhost commit -q -m own";

void expect_completed(const Ended& ended) {
  EXPECT_EQ(ended.run.reason, Reason::completed) << ended.run.error;
  EXPECT_EQ(ended.run.state, JobState::succeeded);
}

/// All of its commands must have worked, or the row would show nothing.
void expect_all_ran(const Ended& ended) {
  for (const json& result : ended.of("tool_result")) EXPECT_EQ(result.at("ok"), true) << result;
}

void commits_by_itself(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent, json::array({does({tools.shell(std::string("git init -q . && echo own > own && git add -A && ") + kCommit +
                                                    " && git log --format=%s")}),
                                  says("I have committed it")}));
  const Ended ended = stage.run();
  expect_completed(ended);
  expect_all_ran(ended);
  EXPECT_EQ(stage.changed(ended), "A\town");
  EXPECT_THAT(stage.git({"log", "--format=%s", ended.run.branch}), Not(HasSubstr("own\n")));
}

void changes_branch(Agent agent) {
  const Tools tools(agent);
  Stage stage(
      agent,
      json::array(
          {does({tools.shell(std::string("git init -q . && git checkout -q -b elsewhere && echo 1 > one && git add -A && ") + kCommit +
                             " && git checkout -q -b main2 && echo 2 > two && git config core.hooksPath /workspace/hooks"
                             " && mkdir hooks && printf '#!/bin/sh\\ntouch /workspace/EVIL\\n' > hooks/post-commit"
                             " && git branch -q -D elsewhere")}),
           says("I am elsewhere")}));
  const Ended ended = stage.run();
  expect_completed(ended);
  expect_all_ran(ended);
  EXPECT_EQ(stage.changed(ended), "A\thooks/post-commit\nA\tone\nA\ttwo");
  EXPECT_EQ(ended.run.branch.rfind("forge/", 0), 0u);
  EXPECT_EQ(stage.git({"for-each-ref", "--format=%(refname)", "refs/heads"}), "refs/heads/" + ended.run.branch + "\nrefs/heads/main");
}

void leaves_processes(Agent agent) {
  const Tools tools(agent);
  const std::string name = "contract-left-" + std::to_string(::getpid());
  const std::string start =
      "nohup setsid bash -c 'exec -a " + name + " tail -f /dev/null' > /dev/null 2>&1 < /dev/null & echo $! > /tmp/left";
  Stage stage(agent,
              json::array({does({tools.shell(start)}), does({tools.shell("kill -0 $(cat /tmp/left) && echo yes > alive")}), says("Done")}));
  const Ended ended = stage.run();
  expect_completed(ended);
  expect_all_ran(ended);
  EXPECT_EQ(stage.changed(ended), "A\talive");
  EXPECT_THAT(functional::processes_with(name), testing::IsEmpty());
}

void writes_outside(Agent agent) {
  const Tools tools(agent);
  const std::string mark = "contract-outside-" + std::to_string(::getpid());
  std::string folders = "/tmp /home/agent /usr /usr/bin /etc /opt /opt/forge / /proc /sys /dev /workspace/.. /var/tmp /root /run";
  folders += " " + std::filesystem::temp_directory_path().string();
  const std::string command =
      "for d in " + folders + "; do echo x > $d/" + mark + "; done 2>/dev/null; ln -s /etc/shadow link; echo in > inside";
  Stage stage(agent, json::array({does({tools.shell(command)}), says("Done")}));
  const Ended ended = stage.run();
  expect_completed(ended);
  expect_all_ran(ended);
  EXPECT_EQ(stage.changed(ended), "A\tinside\nA\tlink");
  EXPECT_EQ(stage.file(ended, "link"), "/etc/shadow") << "the link, not what it names";
  for (const char* folder :
       {"/tmp", "/home/agent", "/usr", "/usr/bin", "/etc", "/opt", "/opt/forge", "/", "/dev", "/var/tmp", "/root", "/run"})
    EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(folder) / mark)) << folder;
}

void empties_the_tree(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent,
              json::array({does({tools.shell("find /workspace -mindepth 1 -delete && ls -A /workspace | wc -l")}), says("All gone")}));
  const Ended ended = stage.run();
  expect_completed(ended);
  expect_all_ran(ended);
  EXPECT_EQ(stage.changed(ended), "D\t.gitignore\nD\tREADME.md\nD\tsrc/main.py");
  EXPECT_EQ(ended.run.diff_stat.files, 3);
}

void looks_for_the_key(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent, json::array({does({tools.shell("env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'; "
                                                    "grep -rsa canary-of /home /tmp /workspace /etc /run /opt; echo looked > looked")}),
                                  says("Done")}));
  const Ended ended = stage.run();
  expect_completed(ended);
  EXPECT_THAT(ended.of("tool_result").at(0).dump(), Not(HasSubstr("[redacted]"))) << "it was there";
}

/// Everything of its user that it may kill, the program that runs it included.
void kills_everything(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent, json::array({does({tools.write("kept", "kept\n")}), does({tools.shell("kill -9 -1")}), says("Still here")}));
  const Ended ended = stage.run();
  EXPECT_EQ(ended.run.reason, agent == Agent::claude_code ? Reason::agent_crash : Reason::completed) << ended.run.error;
  EXPECT_EQ(stage.changed(ended), "A\tkept");
}

void exits_early(Agent agent) {
  const Tools tools(agent);
  const json dies = agent == Agent::dummy ? json{{"name", "throw"}, {"input", json::object()}} : tools.shell("kill -9 $PPID");
  Stage stage(agent, json::array({does({tools.write("kept", "kept\n")}), does({dies}), says("never")}));
  const Ended ended = stage.run();
  EXPECT_EQ(ended.run.reason, Reason::agent_crash) << ended.run.error;
  EXPECT_EQ(stage.changed(ended), "A\tkept");
  EXPECT_EQ(ended.of("turn").size(), 2u);
}

constexpr const char* kGarbage = R"(printf 'garbage \377\376\n{"type":"resu\n[1,2]\n{"type":7}\nnull\n' > /proc/$PPID/fd/1)";

void prints_garbage(Agent agent) {
  const Tools tools(agent);
  Stage stage(agent, json::array({does({tools.shell(kGarbage)}), does({tools.write("kept", "kept\n")}), says("Done")}));
  const Ended ended = stage.run();
  expect_completed(ended);
  expect_all_ran(ended);
  EXPECT_EQ(stage.changed(ended), "A\tkept");
  EXPECT_EQ(ended.of("turn").size(), 3u);
}

void ends_with_garbage(Agent agent) {
  const Tools tools(agent);
  const json dies =
      agent == Agent::dummy ? json{{"name", "garbage"}, {"input", json::object()}} : tools.shell(std::string(kGarbage) + "; kill -9 $PPID");
  Stage stage(agent, json::array({does({tools.write("kept", "kept\n")}), does({dies}), says("never")}));
  const Ended ended = stage.run();
  EXPECT_EQ(ended.run.reason, Reason::protocol_error) << ended.run.error;
  EXPECT_THAT(ended.run.error, HasSubstr("garbage"));
  EXPECT_NO_THROW(json(ended.run.error + ended.run.summary).dump()) << "it is UTF-8";
  EXPECT_EQ(stage.changed(ended), "A\tkept");
}

}  // namespace

std::vector<Row> conduct_rows() {
  const std::string no_process = "it is no process inside the sandbox: it is part of Forge";
  return {{"CommitsByItself", commits_by_itself},
          {"ChangesBranch", changes_branch},
          {"LeavesProcesses", leaves_processes},
          {"WritesOutside", writes_outside},
          {"EmptiesTheTree", empties_the_tree},
          {"LooksForTheKey", looks_for_the_key},
          {"KillsEverything", kills_everything},
          {"ExitsEarly", exits_early, {{Agent::pi, no_process}}},
          {"PrintsGarbage", prints_garbage, {{Agent::pi, no_process}, {Agent::dummy, "it has no lines that others could write between"}}},
          {"EndsWithGarbage", ends_with_garbage, {{Agent::pi, no_process}}}};
}

}  // namespace forge::contract
