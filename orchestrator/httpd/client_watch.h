#pragma once

#include <cstdint>
#include <map>
#include <stop_token>

#include "orchestrator/base/guarded.h"

/// Private to httpd.
namespace forge::httpd {

/// Tells the handler of a request when its client has closed the connection. Watches descriptors in the front thread's epoll, which would
/// otherwise not look at a connection while a worker has it.
class ClientWatch {
 public:
  explicit ClientWatch(int epoll) : epoll_(epoll) {}

  /// One request under way; the watch ends with it. The descriptor must stay open until then.
  class Ticket {
   public:
    Ticket(ClientWatch& watch, int fd);
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    std::stop_token token() const { return source_.get_token(); }
    /// Cancels for another reason.
    void stop() const { source_.request_stop(); }

   private:
    ClientWatch& watch_;
    const int fd_;
    mutable std::stop_source source_;
    std::uint64_t about_ = 0;
  };
  Ticket watch(int fd) { return {*this, fd}; }

  // On the front thread:
  static bool is_about_a_client(std::uint64_t about) { return (about & kBit) != 0; }
  /// The client of an epoll event has left. One whose ticket is gone meanwhile is passed over: numbers are not used twice.
  void left(std::uint64_t about);

 private:
  static constexpr std::uint64_t kBit = 1ULL << 41;
  struct Watched {
    std::map<std::uint64_t, std::stop_source> sources;
    std::uint64_t next = 1;
  };

  const int epoll_;
  Guarded<Watched> watched_;
};

}  // namespace forge::httpd
