#include "orchestrator/httpd/client_watch.h"

#include <sys/epoll.h>

#include "orchestrator/base/fd.h"

namespace forge::httpd {

ClientWatch::Ticket::Ticket(ClientWatch& watch, int fd) : watch_(watch), fd_(fd) {
  {
    auto watched = watch_.watched_.lock();
    about_ = kBit | watched->next++;
    watched->sources.emplace(about_, source_);
  }
  // Once: a closed connection stays readable, and nobody reads it here.
  epoll_event event{.events = EPOLLRDHUP | EPOLLONESHOT, .data = {.u64 = about_}};
  checked(::epoll_ctl(watch_.epoll_, EPOLL_CTL_ADD, fd_, &event), "watching a client");
}

ClientWatch::Ticket::~Ticket() {
  ::epoll_ctl(watch_.epoll_, EPOLL_CTL_DEL, fd_, nullptr);
  watch_.watched_.lock()->sources.erase(about_);
}

void ClientWatch::left(std::uint64_t about) {
  std::stop_source source(std::nostopstate);
  {
    auto watched = watched_.lock();
    const auto found = watched->sources.find(about);
    if (found == watched->sources.end()) return;
    source = found->second;
  }
  source.request_stop();  // runs callbacks: not under the lock
}

}  // namespace forge::httpd
