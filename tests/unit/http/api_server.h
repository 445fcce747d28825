#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "orchestrator/domain/access.h"
#include "orchestrator/http/api.h"
#include "orchestrator/httpd/server.h"
#include "tests/support/fake_access.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_job_control.h"
#include "tests/support/fake_review_control.h"
#include "tests/support/raw_http.h"
#include "tests/support/temp_dir.h"

namespace forge::http {

inline ApiOptions test_options() {
  ApiOptions options;
  options.defaults.model = "scripted:default.json";
  options.templates = {{.name = "base", .kind = "host", .description = "The host's /usr.", .packages = {}, .limits = {}}};
  options.version = "0.0";
  return options;
}

inline nlohmann::json body_of(const test::RawResponse& response) { return nlohmann::json::parse(response.body); }

/// The whole API over sockets, with a fake engine: TCP for those with a token, a unix socket for the administrator.
struct ApiServer {
  explicit ApiServer(ApiOptions options = test_options(), httpd::HubOptions hub_options = {})
      : hub(hub_options, *log),
        api(make_api({.jobs = jobs,
                      .reviews = reviews,
                      .access = access,
                      .hub = hub,
                      .metrics = metrics,
                      .clock = clock,
                      .log = *log,
                      .check_ready = [this] { check_ready(); }},
                     std::move(options))),
        server({.threads = 4}, *api, hub, *log) {
    httpd::Listener tcp = httpd::listen_tcp("127.0.0.1:0");
    const std::string address = httpd::bound_address(tcp);
    port = std::stoi(address.substr(address.rfind(':') + 1));
    server.add_listener(std::move(tcp));
    server.add_listener(httpd::listen_unix(socket_path()));
  }

  std::string socket_path() const { return directory.str() + "/s"; }
  void check_ready() const {
    if (!ready) throw Error(ErrorCode::unavailable, "disk /secret/path is full");
  }
  /// "Authorization: ..." of a fresh token of that role.
  std::string as(Role role) {
    return "Authorization: Bearer " + issue_token(access, std::string(name_of(role)) + std::to_string(++tokens_made), role).secret + "\r\n";
  }

  // One request on a connection of its own, by the administrator on the unix socket.
  test::RawResponse get(const std::string& target, const std::string& headers = {}) {
    return test::RawClient::unix_socket(socket_path()).ask(test::get_request(target, headers));
  }
  test::RawResponse send(const std::string& method, const std::string& target, const std::string& body, const std::string& headers = {}) {
    return test::RawClient::unix_socket(socket_path()).ask(test::body_request(method, target, body, headers));
  }
  // The same over TCP, as whoever the headers say.
  test::RawResponse tcp_get(const std::string& target, const std::string& headers = {}) {
    return test::RawClient::tcp(port).ask(test::get_request(target, headers));
  }
  test::RawResponse tcp_send(const std::string& method, const std::string& target, const std::string& body,
                             const std::string& headers = {}) {
    return test::RawClient::tcp(port).ask(test::body_request(method, target, body, headers));
  }
  /// A job that is queued; its id.
  std::string make_job(const std::string& repository = "/srv/repo") {
    return jobs.create({.name = "test", .role = Role::operator_, .local = true}, {.repository = repository, .task = "Do it."}, true)
        .id.str();
  }

  test::TempDir directory;
  std::unique_ptr<Log> log = make_null_log();
  test::FakeJobControl jobs;
  test::FakeReviewControl reviews;
  test::FakeAccess access;
  test::FakeClock clock;
  metrics::Registry metrics;
  bool ready = true;
  int tokens_made = 0;
  httpd::EventHub hub;
  std::unique_ptr<httpd::Site> api;
  httpd::Server server;
  int port = 0;
};

}  // namespace forge::http
