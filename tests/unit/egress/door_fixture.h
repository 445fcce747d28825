#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/egress/gateway.h"
#include "tests/support/errors.h"
#include "tests/support/fake_clock.h"
#include "tests/support/kept_log.h"
#include "tests/support/loopback.h"
#include "tests/support/model_server.h"
#include "tests/support/raw_http.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trace_recorder.h"

namespace forge::egress {

// A key that must never be seen inside, nor anywhere but in requests to the provider. Its shape is no known one on purpose.
inline constexpr const char* kCanary = "canary-7d1f0c9a5e";

using test::KeptLog;

/// A gateway over a real store, two providers of one scripted server, and a door on loopback.
class DoorTest : public testing::Test {
 protected:
  // One token of input costs 1,000 nano-dollars, one of output 5,000; the small model costs a tenth.
  static constexpr const char* kPrices = R"({"date": "2026-01-01", "source": "test", "unit": "nano-dollars per million tokens", "models": {
    "ant/large": {"input": 1000000000, "output": 5000000000, "cache_read": 100000000, "cache_write": 1250000000},
    "ant/small": {"input": 100000000, "output": 500000000, "cache_read": 10000000, "cache_write": 125000000},
    "oai/chat": {"input": 1000000000, "output": 5000000000, "cache_read": 100000000, "cache_write": 1250000000}}})";

  DoorTest() {
    prices_.add(kPrices, "test");
    spec_.repository = "/repository";
    spec_.task = "work";
    spec_.model = "ant/large";
  }
  ~DoorTest() override { door_.reset(); }

  void script(const std::string& json) { server_ = std::make_unique<test::ModelServer>(json); }

  /// The door of a new run; what it serves is reached by client().
  ModelDoor& open() {
    door_.reset();
    if (!server_) script(R"([{"text": "hi", "usage": {"input": 100, "output": 10, "cache_read": 1000, "cache_write": 8}}])");
    models::ModelSettings settings{.providers = {}, .default_model = {}, .config_file = {}, .around = around_};
    settings.providers.push_back({.name = "ant",
                                  .kind = models::ProviderKind::anthropic,
                                  .base_url = base_url_.empty() ? server_->url() : base_url_,
                                  .api_key = kCanary,
                                  .headers = headers_});
    settings.providers.push_back(
        {.name = "oai", .kind = models::ProviderKind::openai, .base_url = server_->url() + "/v1/", .api_key = kCanary});
    factory_ = std::make_unique<models::ModelFactory>(settings, prices_, clock_);
    gateway_ = std::make_unique<Gateway>(*factory_, prices_, *store_, clock_, log_, options_);
    job_ = store_->insert_job(spec_, "tester", true);
    run_ = *store_->run(job_.id, 1);
    test::Listener listener = test::listen_on_loopback();
    port_ = listener.port;
    door_ = gateway_->open_door(job_, run_, trace_, std::move(listener.fd));
    return *door_;
  }
  /// Closes the door: then everything is recorded.
  void close() { door_.reset(); }

  test::RawClient client() const { return test::RawClient::tcp(port_); }
  static std::string body(const std::string& model = "large") {
    return R"({ "max_tokens": 10,  "model" :")" + model +
           R"(", "stream" : true, "messages": [{"role": "user", "content": "hello"}], "unknown_key": {"model": [1.50]}})";
  }
  /// Asks once on a connection of its own.
  test::RawResponse ask(const std::string& request_body, const std::string& target = "/v1/messages",
                        const std::string& headers = {}) const {
    return client().ask(test::body_request("POST", target, request_body, headers));
  }

  test::TempDir dir_;
  std::unique_ptr<test::ModelServer> server_;
  test::FakeClock clock_;
  Redactor redactor_;
  KeptLog log_;
  std::unique_ptr<store::Store> store_ =
      store::open_sqlite_store({.directory = dir_.str(), .clock = clock_, .redactor = redactor_, .log = log_});
  models::PriceBook prices_;
  models::AroundTransport around_;
  std::vector<net::HttpHeader> headers_;
  std::string base_url_;  // of "ant"; empty = the scripted server
  GatewayOptions options_;
  JobSpec spec_;
  Job job_;
  forge::Run run_;
  test::TraceRecorder trace_;
  std::unique_ptr<models::ModelFactory> factory_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<ModelDoor> door_;
  int port_ = 0;
};

}  // namespace forge::egress
