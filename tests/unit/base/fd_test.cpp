#include "orchestrator/base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "tests/support/errors.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace forge {
namespace {

using std::chrono::milliseconds;
using test::code_of;
using test::soon;

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFds, CloseOnce) {
  Pipe pipe = make_pipe();
  const int number = pipe.read.get();
  UniqueFd moved = std::move(pipe.read);
  EXPECT_FALSE(pipe.read);  // NOLINT(bugprone-use-after-move): what is left is defined
  EXPECT_TRUE(is_open(number));
  moved.reset();
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFds, AreNotInherited) {
  const Pipe pipe = make_pipe();
  const SocketPair pair = make_socketpair(SOCK_STREAM);
  for (const int fd : {pipe.read.get(), pipe.write.get(), pair.ours.get(), pair.theirs.get()})
    EXPECT_EQ(::fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(CheckedCalls, SayWhatWasDone) {
  const auto error = test::error_of([] { checked_fd(::open("/nonexistent", O_RDONLY | O_CLOEXEC), "opening it"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "opening it: No such file or directory");
}

TEST(Waiting, EndsWithTheDeadline) {
  const Pipe pipe = make_pipe();
  EXPECT_EQ(code_of([&] { wait_ready(pipe.read.get(), POLLIN, Stop::after(milliseconds(2))); }), "timed_out");
}

TEST(Waiting, EndsWhenAnotherThreadCancels) {
  const Pipe pipe = make_pipe();
  std::stop_source source;
  const std::jthread other([&] { source.request_stop(); });
  EXPECT_EQ(code_of([&] { wait_ready(pipe.read.get(), POLLIN, Stop(source.get_token())); }), "cancelled");
}

TEST(Waiting, EndsWhenThePeerHangsUp) {
  Pipe pipe = make_pipe();
  pipe.write.reset();
  wait_ready(pipe.read.get(), POLLIN, soon());
  EXPECT_EQ(read_some(pipe.read.get(), 10, soon()), "");
}

TEST(Reading, TakesTheLimitAndNotOneByteMore) {
  for (const std::size_t limit : {5U, 4U}) {
    Pipe pipe = make_pipe();
    write_all(pipe.write.get(), "12345", soon());
    pipe.write.reset();
    EXPECT_EQ(code_of([&] { EXPECT_EQ(read_all(pipe.read.get(), limit, soon()), "12345"); }), limit == 5 ? "none" : "limit_exceeded");
  }
}

TEST(Writing, PassesMoreThanAPipeHolds) {
  Pipe pipe = make_pipe();
  const std::string sent(1 << 20, 'x');
  std::string got;
  {
    const std::jthread reader([&] { got = read_all(pipe.read.get(), 2 << 20, soon()); });
    write_all(pipe.write.get(), sent, soon());
    pipe.write.reset();
  }
  EXPECT_EQ(got.size(), sent.size());
}

TEST(Writing, ToAFullPipeEndsWithTheDeadline) {
  const Pipe pipe = make_pipe();
  EXPECT_EQ(code_of([&] { write_all(pipe.write.get(), std::string(1 << 20, 'x'), Stop::after(milliseconds(5))); }), "timed_out");
}

TEST(Writing, ToAFileTakesEverything) {
  const test::TempDir dir;
  const std::string text(1 << 20, 'x');
  {
    const UniqueFd file = checked_fd(::open((dir / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), "opening");
    write_all(file.get(), text, soon());
  }
  EXPECT_EQ(test::read_file(dir / "file"), text);
}

// A SIGPIPE would end the test program: its default action is in force here.
TEST(Writing, ToAClosedPeerIsAnErrorAndNoSignal) {
  Pipe pipe = make_pipe();
  pipe.read.reset();
  EXPECT_EQ(code_of([&] { write_all(pipe.write.get(), "x", soon()); }), "unavailable");
  SocketPair pair = make_socketpair(SOCK_STREAM);
  pair.theirs.reset();
  EXPECT_EQ(code_of([&] { write_all(pair.ours.get(), "x", soon()); }), "unavailable");
  EXPECT_EQ(code_of([&] { send_message(pair.ours.get(), "x"); }), "unavailable");
}

TEST(Writing, LeavesThePendingSignalsAsTheyWere) {
  Pipe pipe = make_pipe();
  pipe.read.reset();
  EXPECT_LT(write_without_signal(pipe.write.get(), "x"), 0);
  EXPECT_EQ(errno, EPIPE);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(Messages, CarryDescriptors) {
  const SocketPair pair = make_socketpair(SOCK_SEQPACKET);
  Pipe pipe = make_pipe();
  const int fds[] = {pipe.write.get()};
  send_message(pair.ours.get(), "take this", fds);
  pipe.write.reset();
  const auto message = receive_message(pair.theirs.get(), 100, soon());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->data, "take this");
  ASSERT_EQ(message->fds.size(), 1u);
  EXPECT_EQ(::fcntl(message->fds[0].get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  write_all(message->fds[0].get(), "through", soon());
  EXPECT_EQ(read_some(pipe.read.get(), 100, soon()), "through");
}

TEST(Messages, KeepTheirBorders) {
  const SocketPair pair = make_socketpair(SOCK_SEQPACKET);
  send_message(pair.ours.get(), "one");
  send_message(pair.ours.get(), "two");
  EXPECT_EQ(receive_message(pair.theirs.get(), 100, soon())->data, "one");
  EXPECT_EQ(receive_message(pair.theirs.get(), 100, soon())->data, "two");
}

TEST(Messages, EndWithThePeer) {
  SocketPair pair = make_socketpair(SOCK_SEQPACKET);
  pair.ours.reset();
  EXPECT_FALSE(receive_message(pair.theirs.get(), 100, soon()));
}

TEST(Messages, LongerThanAllowedAreRefused) {
  const SocketPair pair = make_socketpair(SOCK_SEQPACKET);
  send_message(pair.ours.get(), "12345");
  EXPECT_EQ(receive_message(pair.theirs.get(), 5, soon())->data, "12345");
  send_message(pair.ours.get(), "123456");
  EXPECT_EQ(code_of([&] { receive_message(pair.theirs.get(), 5, soon()); }), "limit_exceeded");
}

TEST(Messages, CarrySixteenDescriptorsAndNotMore) {
  const SocketPair pair = make_socketpair(SOCK_SEQPACKET);
  const std::vector<int> sixteen(16, 0);
  send_message(pair.ours.get(), "x", sixteen);
  EXPECT_EQ(receive_message(pair.theirs.get(), 5, soon())->fds.size(), 16u);
  const std::vector<int> seventeen(17, 0);
  EXPECT_EQ(code_of([&] { send_message(pair.ours.get(), "x", seventeen); }), "internal");
}

}  // namespace
}  // namespace forge
