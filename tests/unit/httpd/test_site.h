#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/httpd/server.h"
#include "tests/support/raw_http.h"

namespace forge::httpd {

/// A door that tests open: handlers wait behind it.
class Gate {
 public:
  void open() {
    auto state = state_.lock();
    state->open = true;
    state.notify_all();
  }
  void wait(const Stop& stop) {
    auto state = state_.lock();
    ++state->waiting;
    state.notify_all();
    state.wait_until(stop.token(), stop.deadline(), [](const State& s) { return s.open; });
    --state->waiting;
    stop.check();
  }
  /// Until `count` handlers wait.
  void await(int count) {
    auto state = state_.lock();
    state.wait({}, [&](const State& s) { return s.waiting >= count; });
  }

 private:
  struct State {
    bool open = false;
    int waiting = 0;
  };
  Guarded<State> state_;
};

/// A site with a route for each thing that a server does.
class TestSite final : public Site {
 public:
  TestSite() {
    add(Method::get, "/hello", [](const Request&, const Stop&) { return text_response(200, "text/plain", "hello"); });
    add(Method::get, "/value", [](const Request& request, const Stop&) {
      return text_response(200, "text/plain", std::string(request.header("x-value").value_or("")));
    });
    add(
        Method::post, "/echo", [](const Request& request, const Stop&) { return text_response(200, "text/plain", request.body); }, 1000);
    add(
        Method::post, "/denied", [](const Request&, const Stop&) { return no_content(); }, 1000);
    add(Method::get, "/gate", [this](const Request&, const Stop& stop) {
      gate.wait(stop);
      return text_response(200, "text/plain", "through");
    });
    add(Method::get, "/boom", [](const Request&, const Stop&) -> Response { throw Error(ErrorCode::internal, "boom"); });
    add(Method::get, "/written", [](const Request&, const Stop&) {
      Response response = text_response(200, "text/plain", "");
      response.writer = [](BodyWriter& body, const Stop&) {
        for (const char* piece : {"one,", "", "two,", "three"}) body.write(piece);
      };
      return response;
    });
    add(Method::get, "/large", [](const Request&, const Stop&) { return text_response(200, "text/plain", std::string(8 << 20, 'x')); });
    add(Method::get, "/empty", [](const Request&, const Stop&) { return no_content(); });
    router_.add({.method = Method::get,
                 .pattern = "/asked",
                 .access = Access::open(),
                 .handler = [](const Request& request,
                               const Stop&) { return text_response(200, "text/plain", request.query_value("name").value_or("")); },
                 .query = {"name"}});
  }

  void add(Method method, const std::string& pattern, Handler handler, std::size_t body_bytes = 0) {
    router_.add({.method = method, .pattern = pattern, .access = Access::open(), .handler = std::move(handler), .body_bytes = body_bytes});
  }

  const Router& router() const override { return router_; }
  void screen(const Request&) override {}
  void admit(Request&, const Route& route) override {
    if (route.pattern == "/denied") throw Error(ErrorCode::permission_denied, "no");
  }
  Response failure(const Request&, const std::exception& error) noexcept override {
    const auto* known = dynamic_cast<const Error*>(&error);
    const bool denied = known != nullptr && known->code() == ErrorCode::permission_denied;
    const bool wrong = known != nullptr && known->code() == ErrorCode::invalid_argument;
    return json_response(denied  ? 403
                         : wrong ? 400
                                 : 500,
                         error_json(known != nullptr ? known->code() : ErrorCode::internal, error.what()));
  }
  void served(const Served& served) override {
    log.lock()->push_back((served.route != nullptr ? served.route->pattern : "-") + " " + std::to_string(served.status));
  }

  Gate gate;
  Guarded<std::vector<std::string>> log;

 private:
  Router router_;
};

/// A running server with that site on a free port.
struct TestServer {
  explicit TestServer(ServerOptions options = {}, HubOptions hub_options = {}) : hub(hub_options, *log), server(options, site, hub, *log) {
    Listener listener = listen_tcp("127.0.0.1:0");
    const std::string address = bound_address(listener);
    port = std::stoi(address.substr(address.rfind(':') + 1));
    listener_id = server.add_listener(std::move(listener));
  }
  test::RawClient client() const { return test::RawClient::tcp(port); }

  std::unique_ptr<Log> log = make_null_log();
  TestSite site;
  EventHub hub;
  Server server;
  int port = 0;
  std::uint64_t listener_id = 0;
};

}  // namespace forge::httpd
