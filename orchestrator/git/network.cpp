#include "orchestrator/git/network.h"

#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/process.h"

namespace forge::git {
namespace {

using nlohmann::json;

// 100,000 references and their names.
constexpr std::size_t kMaxAnswerBytes = 32u << 20;
constexpr std::size_t kPiece = 64u << 10;
// Hooks of a server run after the last byte of a push and say nothing for a while.
constexpr int kPatienceForHooks = 5;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitMemory = false;  // a sanitizer maps terabytes of address space
#else
constexpr bool kLimitMemory = true;
#endif
// Mapped packs (1 GiB), one object with its delta base and result (512 MiB each), and room.
constexpr std::size_t kMemoryBytes = 4ull << 30;

Child start_child(const std::string& program, int socket) {
  SpawnOptions options;
  options.argv = {program, kNetworkVerb};
  options.fds = {{socket, kRequestFd}};
  if (kLimitMemory) options.memory_limit_bytes = kMemoryBytes;
  try {
    return Child::spawn(options);
  } catch (const Error& error) {
    // Its code would read as if the repository were missing or forbidden.
    throw Error(ErrorCode::internal, std::string("starting the git child: ") + error.what());
  }
}

/// Lines from the child, with the reason why there are no more.
class Conversation {
 public:
  Conversation(int socket, std::chrono::milliseconds idle_limit, const NetworkRequest& request, const Stop& stop)
      : socket_(socket), idle_limit_(idle_limit), request_(request), stop_(stop) {}

  /// The next line; nothing when the child has closed its end.
  std::optional<json> next() {
    while (true) {
      if (const auto end = unread_.find('\n'); end != std::string::npos) {
        json line = parse_json(std::string_view(unread_).substr(0, end), "the answer of the git child");
        unread_.erase(0, end + 1);
        if (const auto phase = line.find("phase"); phase != line.end()) phase_ = phase->get<std::string>();
        return line;
      }
      const std::string piece = read_piece();
      if (piece.empty()) return {};
      unread_ += piece;
      if (unread_.size() > kMaxAnswerBytes)
        throw public_failure(ErrorCode::limit_exceeded, "'" + request_.remote.url + "' has too many references").in_field("repository");
    }
  }

 private:
  std::string read_piece() {
    const auto patience = phase_ == "uploaded" ? idle_limit_ * kPatienceForHooks : idle_limit_;
    try {
      return read_some(socket_, kPiece, stop_.shorter(patience));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::timed_out || stop_.expired()) throw;
      throw silent(patience);
    }
  }

  Error silent(std::chrono::milliseconds patience) const {
    const std::string subject = "'" + request_.remote.url + "' ";
    const std::string time = " for " + std::to_string(patience.count() / 1000) + " s";
    std::string text = subject + "cannot be reached: no answer" + time;
    if (phase_ == "connected") text = subject + "accepted the connection and said nothing" + time;
    if (phase_ == "answered") text = subject + "stopped sending" + time;
    if (phase_ == "uploaded") text = subject + "took the commit and did not confirm it" + time;
    return public_failure(ErrorCode::unavailable, text).in_field("repository").with_hint("try again later, or look at the server");
  }

  int socket_;
  std::chrono::milliseconds idle_limit_;
  const NetworkRequest& request_;
  const Stop& stop_;
  std::string phase_;  // empty until the child is connected
  std::string unread_;
};

Error died(const NetworkRequest& request, const Exit& exit) {
  const std::string how = exit.signal ? "signal " + std::to_string(*exit.signal) : "status " + std::to_string(exit.code.value_or(-1));
  return Error(ErrorCode::unavailable, "the git child for " + request.remote.url + " ended without an answer (" + how + ")")
      .for_client("the transfer from or to '" + request.remote.url + "' broke off; the repository may be too large for its memory limit");
}

}  // namespace

json Network::run(NetworkRequest request, const Stop& stop) {
  request.ca_file = options_.ca_file;
  SocketPair pair = make_socketpair(SOCK_STREAM);
  Child child = start_child(options_.helper_program, pair.theirs.get());
  pair.theirs.reset();
  write_all(pair.ours.get(), dump_json(to_json(request)) + "\n", stop);
  Conversation conversation(pair.ours.get(), options_.idle_limit, request, stop);
  while (auto line = conversation.next()) {
    if (line->contains("error")) throw error_from(line->at("error"));
    if (line->contains("refs") || line->contains("pushed")) return *line;
    if (line->contains("phase"))
      log_.debug("git transfer", {{"repository", request.remote.url}, {"phase", line->at("phase").get<std::string>()}});
  }
  throw died(request, child.wait(stop));
}

RemoteRefs Network::list(const NetworkRequest& request, const Stop& stop) { return refs_from(run(request, stop).at("refs")); }
RemoteRefs Network::fetch(const NetworkRequest& request, const Stop& stop) { return refs_from(run(request, stop).at("refs")); }

void Network::push(const NetworkRequest& request, const Stop& stop) { run(request, stop); }

}  // namespace forge::git
