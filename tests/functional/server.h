#pragma once

#include <functional>
#include <optional>

#include "tests/functional/installation.h"
#include "tests/support/raw_http.h"

namespace forge::functional {

/// One server-sent event. `data` is null when it is not JSON.
struct ServerEvent {
  std::int64_t id = 0;  ///< 0 = none
  std::string name;     ///< "" for an ordinary one
  nlohmann::json data;
};

/// A live stream of server-sent events.
class EventReader {
 public:
  /// Sends `request` on a new connection to `port` and reads the head of the answer.
  EventReader(int port, const std::string& request);
  int status() const { return status_; }
  /// The next event; nothing when the server ends the stream. Comments are passed over.
  std::optional<ServerEvent> next();
  /// Reads on until `wanted` says yes; throws when the stream ends first.
  ServerEvent until(const std::function<bool(const ServerEvent&)>& wanted);

 private:
  std::optional<std::string> line();
  UniqueFd socket_;
  std::string unread_;
  int status_ = 0;
};

/// `forge serve` of an installation, on a free port unless said. Destroying it asks it to stop and waits.
class Server {
 public:
  explicit Server(const Installation& installation, const std::string& listen = "127.0.0.1:0");
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// Path of the one-time link: "/sign-in/...".
  const std::string& sign_in_path() const { return sign_in_path_; }
  Program& program() { return program_; }

  /// A new token of that role, made through the unix socket.
  std::string token(const std::string& role, const std::string& name) const;
  /// "Authorization" line of the administrator's token, which is made at the first call.
  const std::string& admin();
  /// One request over TCP with exactly these header lines.
  test::RawResponse ask(const std::string& method, const std::string& target, const std::string& body, const std::string& headers) const;
  /// The same as administrator, whose answer must have `status`; returns its JSON.
  nlohmann::json api(const std::string& method, const std::string& target, const nlohmann::json& body = {}, int status = 200);
  /// Creates a job; returns its id.
  std::string create(const nlohmann::json& spec) { return api("POST", "/api/v1/jobs", spec, 201).at("id"); }

  /// Event stream of a target, as administrator.
  EventReader events(const std::string& target, const std::string& headers = {});
  /// Reads the job's events from the first on until one of `type` comes, whose data `wanted` takes.
  nlohmann::json wait_for(
      const std::string& job, const std::string& type,
      const std::function<bool(const nlohmann::json&)>& wanted = [](const nlohmann::json&) { return true; });
  /// Waits for the end of the job's latest run; returns the run.
  nlohmann::json wait_ended(const std::string& job);

  /// kill -9; returns when it is dead.
  void kill9();
  /// SIGTERM, and waits.
  Said stop();

 private:
  const Installation& installation_;
  Program program_;
  int port_ = 0;
  std::string sign_in_path_;
  std::string admin_;
  bool ended_ = false;
};

}  // namespace forge::functional
