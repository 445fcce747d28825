#include "tests/bench/gateway_bench.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "orchestrator/base/guarded.h"
#include "orchestrator/egress/gateway.h"
#include "tests/bench/memory.h"
#include "tests/bench/samples.h"
#include "tests/support/fake_clock.h"
#include "tests/support/loopback.h"
#include "tests/support/loopback_server.h"
#include "tests/support/raw_http.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trace_recorder.h"
#include "tests/support/with_store.h"

namespace forge::bench {
namespace {

using std::chrono::steady_clock;

constexpr int kModelRequests = 200;  // of one measurement, over all streams
constexpr int kDeltas = 60;          // of one stream that is measured by the delta
constexpr auto kDeltaPause = std::chrono::milliseconds(5);
// What a model takes at the very least before its first word, different each time, so that the streams do not march in step.
constexpr int kThinkMs = 15;
constexpr int kThinkSpreadMs = 11;
constexpr int kManyStreams = 200;
constexpr const char* kBody = R"({"model":"m","max_tokens":10,"stream":true,"messages":[{"role":"user","content":"hello"}]})";
constexpr std::string_view kStamp = R"("text":")";

std::string event(std::string_view type, std::string_view rest) {
  return fmt::format("event: {0}\ndata: {{\"type\":\"{0}\"{1}}}\n\n", type, rest);
}

const std::string& stream_start() {
  static const std::string text =
      event("message_start", R"(,"message":{"id":"msg","type":"message","model":"m","usage":{"input_tokens":10,"output_tokens":1}})") +
      event("content_block_start", R"(,"index":0,"content_block":{"type":"text","text":""})");
  return text;
}
const std::string& stream_end() {
  static const std::string text =
      event("message_delta", R"(,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20})") + event("message_stop", "");
  return text;
}

void send_chunk(test::Connection& connection, const std::string& bytes) {
  connection.send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes));
}

/// Waits as `x-think-ms` says, then streams as many deltas as `x-deltas` says, each with the time of its sending.
void serve(test::Connection& connection) {
  while (const auto request = connection.read_request()) {
    const int deltas = std::stoi(request->header("x-deltas"));
    if (const int think_ms = std::stoi(request->header("x-think-ms")); think_ms > 0)
      forge::pause(std::chrono::milliseconds(think_ms), connection.stop());
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    send_chunk(connection, stream_start());
    for (int i = 0; i < deltas; ++i) {
      forge::pause(kDeltaPause, connection.stop());
      const auto now = steady_clock::now().time_since_epoch().count();
      send_chunk(connection, event("content_block_delta", fmt::format(R"(,"index":0,"delta":{{"type":"text_delta","text":"{}"}})", now)));
    }
    send_chunk(connection, stream_end());
    connection.send("0\r\n\r\n");
  }
}

std::string request(int deltas, int think_ms = 0) {
  return test::body_request("POST", "/v1/messages", kBody, fmt::format("x-deltas: {}\r\nx-think-ms: {}\r\n", deltas, think_ms));
}

/// Runs `body` on `count` threads at once; its samples are put together.
template <typename Body>
Samples on_streams(int count, const Body& body) {
  Guarded<Samples> all;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&] {
        std::vector<steady_clock::duration> mine;
        body(mine);
        auto locked = all.lock();
        for (const auto& one : mine) locked->add(one);
      });
  }
  return *all.lock();
}

enum class Rest { none, thinking };

/// What requests take besides the model's thinking.
Samples whole_requests(int port, int streams, Rest rest) {
  std::atomic<int> number = 0;
  return on_streams(streams, [&](std::vector<steady_clock::duration>& mine) {
    test::RawClient client = test::RawClient::tcp(port);
    client.ask(request(0));  // connects, on both sides
    for (int i = 0; i < kModelRequests / streams; ++i) {
      const int think_ms = rest == Rest::none ? 0 : kThinkMs + number++ * 7 % kThinkSpreadMs;
      const auto start = steady_clock::now();
      client.ask(request(0, think_ms));
      mine.push_back(steady_clock::now() - start - std::chrono::milliseconds(think_ms));
    }
  });
}

/// Reads one answer; gives the age of each delta at its arrival.
void read_deltas(test::RawClient& client, int deltas, std::vector<steady_clock::duration>& ages) {
  client.send(request(deltas));
  for (int seen = 0; seen < deltas;) {
    const std::string text = client.read_to("\n\n");
    const auto now = steady_clock::now().time_since_epoch();
    const auto stamp = text.find(kStamp);
    if (stamp == std::string::npos || text.find("event: content_block_delta") == std::string::npos) continue;
    steady_clock::rep sent = 0;
    std::from_chars(text.data() + stamp + kStamp.size(), text.data() + text.size(), sent);
    ages.push_back(now - steady_clock::duration(sent));
    ++seen;
  }
  client.read_to("0\r\n\r\n");
}

Samples delta_ages(int port, int streams) {
  return on_streams(streams, [&](std::vector<steady_clock::duration>& mine) {
    test::RawClient client = test::RawClient::tcp(port);
    read_deltas(client, kDeltas, mine);
  });
}

/// A gateway with everything real but the provider.
class Place : test::WithStore<test::FakeClock> {
 public:
  Place() {
    models::ModelSettings settings{
        .providers = {{.name = "p", .kind = models::ProviderKind::anthropic, .base_url = upstream_.url(), .api_key = "k"}}};
    factory_ = std::make_unique<models::ModelFactory>(settings, prices_, clock_);
    gateway_ = std::make_unique<egress::Gateway>(*factory_, prices_, *store_, clock_, *log_, egress::GatewayOptions{});
    JobSpec spec;
    spec.repository = "/repository";
    spec.task = "work";
    spec.model = "p/m";
    const Job job = store_->insert_job(spec, "bench", true);
    test::Listener listener = test::listen_on_loopback();
    port_ = listener.port;
    door_ = gateway_->open_door(job, *store_->run(job.id, 1), trace_, std::move(listener.fd));
  }
  int direct() const { return upstream_.port(); }
  int through() const { return port_; }

 private:
  test::LoopbackServer upstream_{serve};
  models::PriceBook prices_;
  test::TraceRecorder trace_;
  std::unique_ptr<models::ModelFactory> factory_;
  std::unique_ptr<egress::Gateway> gateway_;
  int port_ = 0;
  std::unique_ptr<egress::ModelDoor> door_;
};

void compare(std::ostream& out, const std::string& what, const Samples& direct, const Samples& through, double goal_ms) {
  const double added = through.p50() - direct.p50();
  out << fmt::format("  {:<32} direct p50 {:.3f} ms, p95 {:.3f}; gateway p50 {:.3f} ms, p95 {:.3f}; added p50 {:.3f} ms", what,
                     direct.p50(), direct.p95(), through.p50(), through.p95(), added);
  out << fmt::format(" ({} {:.0f} ms)\n", added <= goal_ms ? "within" : "OVER", goal_ms);
}

void many(std::ostream& out, const Place& place) {
  const std::int64_t before = resident_kib();
  std::atomic<int> errors = 0;
  std::atomic<std::int64_t> most = 0;
  std::atomic<int> half_way = 0;
  Guarded<std::string> last_error;
  const auto start = steady_clock::now();
  const Samples ages = on_streams(kManyStreams, [&](std::vector<steady_clock::duration>& mine) {
    try {
      test::RawClient client = test::RawClient::tcp(place.through());
      read_deltas(client, kDeltas, mine);
      if (++half_way == kManyStreams / 2) most = resident_kib();
    } catch (const std::exception& e) {
      ++errors;
      last_error.lock()->assign(e.what());
    }
  });
  const auto took = std::chrono::duration<double>(steady_clock::now() - start).count();
  out << fmt::format("  {} streams at once: {} errors, {} deltas in {:.1f} s, delta age p50 {:.2f} ms, p95 {:.2f}\n", kManyStreams,
                     errors.load(), ages.count(), took, ages.p50(), ages.p95());
  out << fmt::format("  resident {} KiB before, {} KiB with them: {:.0f} KiB a stream, both ends in it\n", before, most.load(),
                     static_cast<double>(most.load() - before) / kManyStreams);
  if (errors > 0) out << "  the last error: " << *last_error.lock() << '\n';
}

}  // namespace

void bench_gateway(std::ostream& out) {
  out << "gateway: a model request direct and through a door, same upstream\n";
  const Place place;
  whole_requests(place.through(), 20, Rest::none);  // warm
  for (const int streams : {1, 20}) {
    const Samples direct = whole_requests(place.direct(), streams, Rest::thinking);
    compare(out, fmt::format("request, {} streams", streams), direct, whole_requests(place.through(), streams, Rest::thinking), 1);
  }
  for (const int streams : {1, 20}) {
    const Samples direct = delta_ages(place.direct(), streams);
    compare(out, fmt::format("delta, {} streams", streams), direct, delta_ages(place.through(), streams), 2);
  }
  for (const int streams : {1, 20}) {
    const Samples direct = whole_requests(place.direct(), streams, Rest::none);
    compare(out, fmt::format("request without rest, {} streams", streams), direct, whole_requests(place.through(), streams, Rest::none), 1);
  }
  many(out, place);
}

}  // namespace forge::bench
