#include "tests/support/model_server.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/guarded.h"

namespace forge::test {
namespace {

using nlohmann::json;

/// What the server needs to know of one request.
struct Asked {
  models::StreamAnswer answer;
  bool stream_options = false;
  std::size_t request_number = 0;
};

std::optional<ModelFormat> format_of(const std::string& target) {
  const std::string path = target.substr(0, target.find('?'));
  if (path.ends_with("/v1/messages")) return ModelFormat::anthropic;
  if (path.ends_with("/chat/completions")) return ModelFormat::openai;
  return {};
}

Asked read_asked(const SeenRequest& request, ModelFormat format) {
  Asked asked;
  asked.answer.format = format;
  const json body = json::parse(request.body, nullptr, false);
  if (!body.is_object()) return asked;
  asked.answer.model = body.value("model", "");
  asked.stream_options = body.contains("stream_options");
  for (const json& message : body.value("messages", json::array()))
    if (message.value("role", "") == "assistant") ++asked.answer.number;
  return asked;
}

std::string id_headers(std::size_t request_number) {
  return fmt::format("request-id: req_{0}\r\nx-request-id: req_{0}\r\n", request_number);
}

void send_chunk(Connection& connection, std::string_view bytes) { connection.send(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes)); }

/// The pieces of a stream as they are written.
std::vector<std::string> writes_of(const std::vector<std::string>& events, const ModelFaults& faults) {
  if (!faults.drip && faults.split_at == 0) return events;
  std::string all;
  for (const std::string& event : events) all += event;
  std::vector<std::string> writes;
  if (faults.drip) {
    for (const char byte : all) writes.emplace_back(1, byte);
  } else {
    writes.push_back(all.substr(0, faults.split_at));
    if (faults.split_at < all.size()) writes.push_back(all.substr(faults.split_at));
  }
  return writes;
}

/// False when the connection is not to be used again.
bool send_stream(Connection& connection, const std::vector<std::string>& events, const ModelFaults& faults, std::size_t request_number) {
  connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n" +
                  id_headers(request_number) + "Transfer-Encoding: chunked\r\n\r\n");
  for (const std::string& piece : writes_of(events, faults)) {
    send_chunk(connection, piece);
    if (faults.reset) {
      connection.reset();
      return false;
    }
    if (faults.hang) {
      connection.wait_gone();
      return false;
    }
  }
  if (faults.no_end) {
    connection.wait_gone();
    return false;
  }
  connection.send("0\r\n\r\n");
  return true;
}

void send_error(Connection& connection, ModelFormat format, int status, const std::string& message, const std::string& headers) {
  connection.send(http_answer(status, models::error_body(format, status, message), "Content-Type: application/json\r\n" + headers));
}

}  // namespace

struct ModelServer::State {
  /// One prepared answer that is not the script's.
  struct Verbatim {
    std::string bytes;
    bool stream = false;
  };

  struct Shared {
    std::vector<SeenRequest> requests;
    std::function<void(const SeenRequest&)> heard;
    ModelFaults faults;
    std::deque<ModelFaults> faults_once;
    std::deque<Verbatim> verbatim;
    std::map<std::size_t, std::int64_t> errors_told;  // by step
  };

  explicit State(std::string_view script_json) : steps(models::parse_script(script_json, "of the model server")) {}

  void serve(Connection& connection);
  bool answer(Connection& connection, const SeenRequest& request);
  bool play(Connection& connection, const Asked& asked);
  std::optional<Verbatim> next_verbatim();
  ModelFaults next_faults();
  bool tells_error(std::size_t number, const models::ScriptStep& step);

  std::vector<models::ScriptStep> steps;
  Guarded<Shared> shared;
  std::unique_ptr<LoopbackServer> server;  // last: its threads use all of the above
};

void ModelServer::State::serve(Connection& connection) {
  while (auto request = connection.read_request()) {
    const auto heard = shared.lock()->heard;
    if (heard) heard(*request);
    if (!answer(connection, *request)) return;
  }
}

bool ModelServer::State::answer(Connection& connection, const SeenRequest& request) {
  std::size_t number = 0;
  {
    auto locked = shared.lock();
    locked->requests.push_back(request);
    number = locked->requests.size();
  }
  if (const auto verbatim = next_verbatim()) {
    if (verbatim->stream) return send_stream(connection, {verbatim->bytes}, {}, number);
    connection.send(verbatim->bytes);
    return false;
  }
  const auto format = format_of(request.target);
  if (request.method == "POST" && format) {
    Asked asked = read_asked(request, *format);
    asked.request_number = number;
    return play(connection, asked);
  }
  if (request.method == "HEAD") {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  } else if (request.method == "GET" && request.target.ends_with("/models")) {
    connection.send(
        http_answer(200, R"({"object":"list","data":[{"id":"scripted","object":"model"}]})", "Content-Type: application/json\r\n"));
  } else {
    send_error(connection, ModelFormat::anthropic, 404, "no such path", id_headers(number));
  }
  return true;
}

bool ModelServer::State::play(Connection& connection, const Asked& asked) {
  const std::size_t number = asked.answer.number;
  const std::string ids = id_headers(asked.request_number);
  if (number >= steps.size()) {
    send_error(connection, asked.answer.format, 400, fmt::format("the script has no step {}", number), ids);
    return true;
  }
  const models::ScriptStep& step = steps[number];
  if (step.delay_ms > 0) forge::pause(std::chrono::milliseconds(step.delay_ms), connection.stop());
  if (tells_error(number, step)) {
    const std::string wait =
        step.error->retry_after_ms ? fmt::format("retry-after: {:g}\r\n", static_cast<double>(*step.error->retry_after_ms) / 1000) : "";
    send_error(connection, asked.answer.format, step.error->status, "scripted error", ids + wait);
    return true;
  }
  const ModelFaults faults = next_faults();
  if (faults.refuse_stream_options && asked.stream_options) {
    send_error(connection, asked.answer.format, 400, "Unrecognized request argument supplied: stream_options", ids);
    return true;
  }
  return send_stream(connection, model_events(step, asked.answer, faults), faults, asked.request_number);
}

std::optional<ModelServer::State::Verbatim> ModelServer::State::next_verbatim() {
  auto locked = shared.lock();
  if (locked->verbatim.empty()) return {};
  Verbatim next = std::move(locked->verbatim.front());
  locked->verbatim.pop_front();
  return next;
}

ModelFaults ModelServer::State::next_faults() {
  auto locked = shared.lock();
  if (locked->faults_once.empty()) return locked->faults;
  ModelFaults next = locked->faults_once.front();
  locked->faults_once.pop_front();
  return next;
}

bool ModelServer::State::tells_error(std::size_t number, const models::ScriptStep& step) {
  if (!step.error) return false;
  if (step.error->times == 0) return true;
  auto locked = shared.lock();
  if (locked->errors_told[number] >= step.error->times) return false;
  ++locked->errors_told[number];
  return true;
}

ModelServer::ModelServer(std::string_view script_json, int port) : state_(std::make_unique<State>(script_json)) {
  state_->server = std::make_unique<LoopbackServer>([state = state_.get()](Connection& connection) { state->serve(connection); }, port);
}

ModelServer::ModelServer(std::string_view script_json, const std::string& socket_path) : state_(std::make_unique<State>(script_json)) {
  state_->server =
      std::make_unique<LoopbackServer>([state = state_.get()](Connection& connection) { state->serve(connection); }, socket_path);
}

ModelServer::~ModelServer() = default;

int ModelServer::port() const { return state_->server->port(); }
std::string ModelServer::url() const { return state_->server->url(); }
int ModelServer::connections() const { return state_->server->connections(); }
std::vector<SeenRequest> ModelServer::requests() const { return state_->shared.lock()->requests; }
void ModelServer::on_request(std::function<void(const SeenRequest&)> heard) { state_->shared.lock()->heard = std::move(heard); }
void ModelServer::set_faults(const ModelFaults& faults) { state_->shared.lock()->faults = faults; }
void ModelServer::fault_once(const ModelFaults& faults) { state_->shared.lock()->faults_once.push_back(faults); }
void ModelServer::stream_once(std::string events) { state_->shared.lock()->verbatim.push_back({std::move(events), true}); }
void ModelServer::answer_once(std::string bytes) { state_->shared.lock()->verbatim.push_back({std::move(bytes), false}); }

}  // namespace forge::test
