#include <filesystem>

#include "tests/support/errors.h"
#include "tests/unit/sandbox/local_fixture.h"

namespace forge::sandbox {
namespace {

using test::code_of;

using LocalFiles = LocalSandboxTest;

TEST_F(LocalFiles, AreWrittenAndReadAsTheJobsUser) {
  const auto sandbox = acquire();
  const std::string content("a\0b\n\xff", 5);
  sandbox->write_file("deep/er/file", content, soon());
  EXPECT_EQ(sandbox->read_file("/workspace/deep/er/file", 5, soon()), content);
  EXPECT_EQ(output(*sandbox, "stat -c '%U %a' deep deep/er/file"), "agent 755\nagent 644\n");
}

TEST_F(LocalFiles, KeepTheirModeAndLoseTheirOldTail) {
  const auto sandbox = acquire();
  output(*sandbox, "echo a long old text > f; chmod 751 f; ln -s f link");
  sandbox->write_file("link", "new", soon());
  EXPECT_EQ(output(*sandbox, "cat f; stat -c ' %a' f; readlink link"), "new 751\nf\n");
}

TEST_F(LocalFiles, OfTheHostThatTheSpecNamesCanBeRunAndNothingElse) {
  const std::string program = path_of("tool");
  test::write_file(program, "#!/bin/sh\necho it runs\n");
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  SandboxSpec wanted = spec();
  wanted.files = {{.target = "/opt/forge/tool", .source = program}};
  const auto sandbox = acquire(wanted);
  EXPECT_EQ(output(*sandbox, "/opt/forge/tool; ls /opt/forge"), "it runs\ntool\n");
  for (const char* attempt : {"echo x > /opt/forge/tool", "rm -f /opt/forge/tool", "mv /opt/forge/tool /tmp/", "chmod 777 /opt/forge/tool",
                              "touch -d 2001-01-01 /opt/forge/tool", "ln -s x /opt/forge/other", "mkdir /opt/other"})
    EXPECT_FALSE(shell(*sandbox, attempt).exit.ok()) << attempt;
  EXPECT_EQ(test::read_file(program), "#!/bin/sh\necho it runs\n");
}

TEST_F(LocalFiles, OfTheHostMustBeRegular) {
  const std::string link = path_of("link");
  std::filesystem::create_symlink("/bin/true", link);
  for (const std::string& source : {std::string("/etc"), std::string("/dev/null"), link, path_of("missing")}) {
    SandboxSpec wanted = spec();
    wanted.files = {{.target = "/opt/forge/x", .source = source}};
    EXPECT_EQ(code_of([&] { acquire(wanted); }), "sandbox_config") << source;
  }
}

TEST_F(LocalFiles, MayBeLarge) {
  const auto sandbox = acquire();
  std::string large;
  large.resize(9'000'000, 'x');
  sandbox->write_file("/tmp/large", large, soon());
  EXPECT_EQ(sandbox->read_file("/tmp/large", large.size(), soon()), large);
  EXPECT_EQ(code_of([&] { sandbox->read_file("/tmp/large", large.size() - 1, soon()); }), "limit_exceeded");
}

TEST_F(LocalFiles, ThatCannotBeReadSayWhy) {
  const auto sandbox = acquire();
  output(*sandbox, "mkdir d; echo x > secret; chmod 000 secret; mkfifo pipe; ln -s loop loop");
  const auto read = [&](const std::string& path) { return code_of([&] { sandbox->read_file(path, 100, soon()); }); };
  EXPECT_EQ(read("missing"), "not_found");
  EXPECT_EQ(read("d/x/y"), "not_found");
  EXPECT_EQ(read("d"), "invalid_argument");
  EXPECT_EQ(read("secret"), "permission_denied");
  EXPECT_EQ(read("pipe"), "invalid_argument") << "a FIFO must not hold the reader";
  EXPECT_EQ(read("loop"), "invalid_argument");
  EXPECT_EQ(read("/dev/zero"), "invalid_argument");
  EXPECT_EQ(read("/proc/1/environ"), "not_found");
}

TEST_F(LocalFiles, OfProcWithoutALengthAreReadWithinTheLimit) {
  const auto sandbox = acquire();
  EXPECT_EQ(sandbox->read_file("/proc/self/comm", 100, soon()).back(), '\n');
  EXPECT_EQ(code_of([&] { sandbox->read_file("/proc/self/status", 10, soon()); }), "limit_exceeded");
}

TEST_F(LocalFiles, ThatCannotBeWrittenSayWhy) {
  const auto sandbox = acquire();
  output(*sandbox, "mkdir d; mkfifo pipe; echo x > file; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'");
  const auto write = [&](const std::string& path, const std::string& content = "x") {
    return code_of([&] { sandbox->write_file(path, content, soon()); });
  };
  EXPECT_EQ(write("/etc/passwd"), "permission_denied");
  EXPECT_EQ(write("/usr/new"), "permission_denied");
  EXPECT_EQ(write("d"), "invalid_argument");
  EXPECT_EQ(write("file/below"), "not_found");
  EXPECT_EQ(write("pipe"), "invalid_argument");
  EXPECT_EQ(write("sock"), "invalid_argument");
  EXPECT_EQ(write("/tmp/huge", std::string(70 << 20, 'x')), "limit_exceeded");
}

TEST_F(LocalFiles, NeverLeadOutOfTheSandbox) {
  test::write_file(path_of("host-secret"), "secret");
  const auto sandbox = acquire();
  output(*sandbox, "ln -s " + path_of("host-secret") + " link; ln -s / root");
  EXPECT_EQ(code_of([&] { sandbox->read_file("link", 100, soon()); }), "not_found");
  EXPECT_EQ(code_of([&] { sandbox->read_file("root" + path_of("host-secret"), 100, soon()); }), "not_found");
  EXPECT_EQ(code_of([&] { sandbox->read_file("../../../.." + path_of("host-secret"), 100, soon()); }), "not_found");
}

}  // namespace
}  // namespace forge::sandbox
