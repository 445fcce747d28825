#include "orchestrator/sandbox/local/spool.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "orchestrator/base/error.h"

namespace forge::sandbox::local {
namespace {

// The writer only copies into memory: one that stands still this long was stopped by the job.
constexpr auto kPatience = std::chrono::seconds(2);

}  // namespace

void Spool::add(std::string_view piece, bool cut) {
  if (failed_) return;
  try {
    if (!data_ && !cut) {
      early_.append(piece);
      return;
    }
    if (!data_) open();
    write(std::exchange(early_, {}));
    write(piece);
  } catch (const Error&) {
    failed_ = true;  // reported as an empty path: the job's own doing, or its full disk
    data_.reset();
  }
}

void Spool::open() {
  SocketPair data = make_socketpair(SOCK_STREAM);
  SocketPair status = make_socketpair(SOCK_SEQPACKET);
  const std::array<int, 2> passed{status.theirs.get(), data.theirs.get()};
  supervisor_.request(message::kWrite, {path_, "0", "new"}, passed);
  data_ = std::move(data.ours);
  status_ = std::move(status.ours);
}

void Spool::write(std::string_view piece) {
  piece = piece.substr(0, kMaxBytes - std::min(kMaxBytes, written_));
  if (piece.empty()) return;
  write_all(data_.get(), piece, Stop::after(kPatience));
  written_ += piece.size();
}

std::string Spool::finish() {
  if (failed_ || !data_) return {};
  try {
    data_.reset();
    const std::optional<Message> answer = receive_message(status_.get(), kMaxPacketBytes, Stop::after(kPatience));
    const bool stored = answer && !answer->data.empty() && answer->data.front() == message::kEnded;
    return stored ? path_ : "";
  } catch (const Error&) {
    return {};  // as in add()
  }
}

}  // namespace forge::sandbox::local
