#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/fd.h"
#include "orchestrator/egress/network_log.h"
#include "orchestrator/egress/proxy.h"
#include "orchestrator/egress/proxy_request.h"

namespace forge::egress {

/// One client of the proxy, from its first byte to the last. Never blocks: the proxy's thread polls for the events that it asks for and
/// hands them in. The steps: head > resolving > connecting > relaying, or answering with a refusal.
class ProxyConnection {
 public:
  enum class Phase { head, resolving, connecting, relaying, answering, closed };

  /// `options` and `log` outlive the connection. `client` is non-blocking.
  ProxyConnection(UniqueFd client, const ProxyOptions& options, NetworkLog& log);

  Phase phase() const { return phase_; }
  /// Whose addresses are wanted in the phase `resolving`.
  const std::string& host() const { return request_.host; }
  int client_fd() const { return client_.get(); }
  int server_fd() const { return server_.get(); }
  /// For poll(); 0 = nothing to wait for.
  short client_events() const;
  short server_events() const;
  SteadyClock::time_point deadline() const { return deadline_; }

  /// What poll() said; 0 for nothing.
  void on_ready(short client, short server);
  void on_resolved(const std::vector<Address>& addresses);
  void on_deadline();

 private:
  /// Bytes on their way in one direction.
  struct Pump {
    std::string waiting;
    bool ended = false;  // the source gives no more
    bool shut = false;   // and the sink was told
  };

  void enter(Phase phase, std::chrono::milliseconds time);
  void read_head();
  void decide();
  void dial(const std::vector<Address>& addresses);
  void connect_next();
  void finish_connect();
  void relay(short client, short server);
  void pull(const UniqueFd& from, Pump& pump);
  void push(const UniqueFd& to, Pump& pump);
  bool counted(std::size_t bytes);
  void drain_client();
  void refuse(Verdict verdict, const std::string& reason, const std::string& hint);
  void answer(std::string_view status, const std::string& body);
  std::string where() const;
  std::string how_to_allow() const;

  UniqueFd client_;
  UniqueFd server_;
  const ProxyOptions& options_;
  NetworkLog& log_;
  Phase phase_ = Phase::head;
  SteadyClock::time_point deadline_;
  std::string head_;
  ProxyRequest request_;
  std::vector<Address> addresses_;  // still to try, the next one last
  Pump up_;                         // client > server
  Pump down_;
};

}  // namespace forge::egress
