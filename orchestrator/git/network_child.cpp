#include <netdb.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "orchestrator/base/fd.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/git/network_job.h"
#include "orchestrator/git/repository_cache.h"
#include "orchestrator/git/transfer.h"

namespace forge::git {
namespace {

constexpr std::size_t kMaxRequestBytes = 1 << 20;
constexpr auto kConnectTimeout = std::chrono::seconds(20);
// Often enough for the parent's idle limit, seldom enough to cost nothing.
constexpr auto kHeartbeat = std::chrono::milliseconds(200);

using nlohmann::json;

/// The parent's end of descriptor 3. When the parent is gone a write fails, and that ends us.
class Parent final : public TransferListener {
 public:
  void moved() override {
    const auto now = SteadyClock::now();
    if (now - last_ < kHeartbeat) return;
    last_ = now;
    say({{"moved", true}});
  }
  void reached(std::string_view phase) override { say({{"phase", phase}}); }
  void say(const json& line) { write_all(kRequestFd, dump_json(line) + "\n", Stop()); }

 private:
  SteadyClock::time_point last_;
};

/// A Forge that is killed takes its transfers along: its next start ends the run, and no push may come after that. libgit2 blocks
/// without looking at descriptor 3, so the kernel has to tell us; what happened before we asked, the descriptor tells.
void die_with_parent() {
  checked(::prctl(PR_SET_PDEATHSIG, SIGKILL), "asking for the parent's death");
  pollfd parent{kRequestFd, 0, 0};
  if (::poll(&parent, 1, 0) > 0) ::_exit(1);
}

struct FreeAddresses {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Error unreachable(const Location& remote, const std::string& why, const std::string& hint) {
  return public_failure(ErrorCode::unavailable, "'" + remote.url + "' cannot be reached: " + why).in_field("repository").with_hint(hint);
}

Addresses resolve_host(const Location& remote) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  const int result = ::getaddrinfo(remote.host.c_str(), std::to_string(remote.port).c_str(), &wanted, &raw);
  Addresses addresses(raw);
  if (result != 0)
    throw unreachable(remote, std::string("the host is not found (") + ::gai_strerror(result) + ")", "check the host's name");
  return addresses;
}

/// errno of the attempt; 0 when somebody accepts connections there.
int try_connect(const addrinfo& address) {
  const UniqueFd socket(::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!socket) return errno;
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  try {
    wait_ready(socket.get(), POLLOUT, Stop::after(kConnectTimeout));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::timed_out) throw;
    return ETIMEDOUT;
  }
  int result = 0;
  socklen_t size = sizeof result;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &result, &size) != 0) return errno;
  return result;
}

/// Before libgit2, which has no time-out for a connection and one text for all of its failures.
void check_reachable(const Location& remote) {
  const Addresses addresses = resolve_host(remote);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    error = try_connect(*one);
    if (error == 0) return;
  }
  const std::string why = error == ECONNREFUSED ? "nothing listens there" : std::strerror(error);
  throw unreachable(remote, why, "check host and port, and whether the server is up");
}

json transfer(const NetworkRequest& request, Parent& parent) {
  use_libgit2();
  if (!request.ca_file.empty())
    check("loading " + request.ca_file, git_libgit2_opts(GIT_OPT_SET_SSL_CERT_LOCATIONS, request.ca_file.c_str(), nullptr));
  check_reachable(request.remote);
  parent.reached("connected");
  const Endpoint endpoint{.url = request.remote.url, .authority = request.remote.authority, .credential = request.credential};
  if (request.operation == NetworkRequest::Operation::list) return {{"refs", to_json(list_refs(endpoint, parent))}};
  const Repository mirror = open_mirror(request.git_dir);
  if (request.operation == NetworkRequest::Operation::fetch)
    return {{"refs", to_json(fetch_objects(mirror.get(), endpoint, request.named, parent))}};
  push_branch(mirror.get(), endpoint, request.source_ref, request.target, parent);
  return {{"pushed", true}};
}

std::string read_request() {
  std::string text;
  while (!text.ends_with('\n')) {
    const std::string piece = read_some(kRequestFd, kMaxRequestBytes, Stop());
    if (piece.empty() || text.size() + piece.size() > kMaxRequestBytes)
      throw Error(ErrorCode::invalid_argument, "the request is cut off or too long");
    text += piece;
  }
  return text;
}

}  // namespace

int run_network_child() {
  std::signal(SIGPIPE, SIG_IGN);  // a server that closes must become an error text
  Parent parent;
  try {
    die_with_parent();
    parent.say(transfer(request_from(parse_json(read_request(), "request")), parent));
    return 0;
  } catch (const Error& error) {
    parent.say({{"error", to_json(error)}});
  } catch (const std::exception& error) {
    parent.say({{"error", to_json(Error(ErrorCode::internal, error.what()))}});
  }
  return 1;
}

}  // namespace forge::git
