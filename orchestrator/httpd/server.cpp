#include "orchestrator/httpd/server.h"

#include <optional>
#include <thread>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/httpd/connection.h"
#include "orchestrator/httpd/exchange.h"
#include "orchestrator/httpd/front.h"

namespace forge::httpd {

// In the order of their lives: the threads use all that stands above them.
struct Server::Parts {
  Parts(const ServerOptions& given, Site& site_, EventHub* hub_, Log& log_)
      : options(given),
        site(site_),
        hub(hub_),
        log(log_),
        queue(given.max_waiting),
        census(given.max_connections, given.max_per_address),
        bodies(given.max_bodies_bytes),
        front(options, queue, census, log, [this] { hire(); }),
        accepting([this](const std::stop_token& token) { front.run(token); }) {}

  /// On the front thread: one more worker when more wait than are free, so that a server that is hardly used costs hardly a thread.
  void hire() {
    if (workers.size() >= options.threads || queue.has_free_worker()) return;
    queue.expect_worker();
    workers.emplace_back([this](const std::stop_token& token) { work(token); });
  }

  /// A worker's loop.
  void work(const std::stop_token& token) {
    while (std::unique_ptr<Connection> connection = queue.pop(token)) {
      Next next = Next::close;
      try {
        next = serve(*connection, token);
      } catch (const std::exception& e) {
        log.error("an answer broke off", {{"error", e.what()}});
      }
      front.give_back(std::move(connection), next);
      queue.rest();
      if (next != Next::send) queue.done();  // else the front says so when the answer is out
    }
  }

  Next serve(Connection& connection, const std::stop_token& token) {
    const ExchangeParts parts{options, site, hub, bodies};
    if (!options.stop_when_client_leaves) return Exchange(parts, connection, Stop(token)).run();
    const ClientWatch::Ticket watched = front.clients().watch(connection.socket.get());
    const std::stop_callback also(token, [&] { watched.stop(); });
    return Exchange(parts, connection, Stop(watched.token())).run();
  }

  ServerOptions options;
  Site& site;
  EventHub* hub;  ///< null: no event streams
  Log& log;
  WorkQueue queue;
  Census census;
  BodyRoom bodies;
  Front front;
  std::vector<std::jthread> workers;  // made by the front thread alone
  std::jthread accepting;
};

Server::Server(const ServerOptions& options, Site& site, EventHub& hub, Log& log)
    : parts_(std::make_unique<Parts>(options, site, &hub, log)) {}

Server::Server(const ServerOptions& options, Site& site, Log& log) : parts_(std::make_unique<Parts>(options, site, nullptr, log)) {}

Server::~Server() { stop(Stop::after(SteadyClock::duration::zero())); }

std::uint64_t Server::add_listener(Listener listener) { return parts_->front.add_listener(std::move(listener)); }
void Server::remove_listener(std::uint64_t id) { parts_->front.remove_listener(id); }

void Server::stop(const Stop& stop) {
  // Streams before requests: they hold no thread and could otherwise stay open as long as their clients like.
  parts_->front.drain();
  if (parts_->hub != nullptr) parts_->hub->stop(stop);
  parts_->queue.wait_idle(stop);
  // The front first: it alone makes workers.
  parts_->accepting.request_stop();
  parts_->front.wake();
  if (parts_->accepting.joinable()) parts_->accepting.join();
  // From here on the handlers' own Stop is cancelled, and so is every wait for a client.
  for (std::jthread& worker : parts_->workers) worker.request_stop();
  for (std::jthread& worker : parts_->workers)
    if (worker.joinable()) worker.join();
  parts_->front.close_all();
}

}  // namespace forge::httpd
