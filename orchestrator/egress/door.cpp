#include "orchestrator/egress/door.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/egress/door_records.h"
#include "orchestrator/egress/passing.h"
#include "orchestrator/httpd/server.h"

namespace forge::egress {
namespace {

using httpd::Method;
using nlohmann::json;

// A CLI with sub-agents keeps some ten requests under way; a thread is made only when one needs it.
constexpr std::size_t kMostAtOnce = 256;
constexpr std::size_t kMostConnections = 512;
// Every connection may wait: a burst is there before the threads that serve it are.
constexpr std::size_t kMostWaiting = kMostConnections;
// Four of the largest bodies, or hundreds of usual ones: who is inside must not be able to fill the memory of the service with many.
constexpr std::size_t kMostBodiesBytes = 4 * kMostDoorBodyBytes;
// Longer than any pause between two turns, so that a connection is not closed just when the next request is sent.
constexpr std::chrono::minutes kIdle{60};

httpd::ServerOptions server_options(std::chrono::milliseconds longest_answer) {
  httpd::ServerOptions options;
  options.threads = kMostAtOnce;
  options.max_connections = kMostConnections;
  options.max_waiting = kMostWaiting;
  options.max_bodies_bytes = kMostBodiesBytes;
  options.handler_deadline = longest_answer;
  options.idle = kIdle;
  options.stop_when_client_leaves = true;
  return options;
}

struct Told {
  int status;
  const char* type;  // in Anthropic's words, which OpenAI's clients take for a type too
  const char* message;
};

/// What an agent is told of an error of ours.
Told told_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return {400, "invalid_request_error", "the request is wrong"};
    case ErrorCode::not_found: return {404, "not_found_error", "there is nothing here"};
    case ErrorCode::permission_denied:
    case ErrorCode::budget_exhausted: return {403, "permission_error", "no more model calls are answered in this run"};
    case ErrorCode::limit_exceeded: return {413, "request_too_large", "the request is too large"};
    case ErrorCode::unavailable: return {502, "api_error", "the model's provider did not answer, or broke off"};
    case ErrorCode::timed_out: return {504, "timeout_error", "the model's provider did not answer in time"};
    case ErrorCode::cancelled: return {503, "api_error", "the run is ending"};
    default: return {500, "api_error", "internal error"};
  }
}

/// One shape for the clients of both formats.
httpd::Response error_answer(const Told& told, const std::string& message) {
  const json error = {{"type", told.type}, {"message", message}, {"param", nullptr}, {"code", nullptr}};
  httpd::Response response = httpd::json_response(told.status, dump_json({{"type", "error"}, {"error", error}}));
  // Agents try much again that cannot get better, for minutes; with this header they stop at once.
  if (told.status < 500) response.add("x-should-retry", "false");
  return response;
}

class Door final : public ModelDoor, private httpd::Site {
 public:
  explicit Door(DoorParts parts)
      : models_(std::move(parts.models)),
        meter_(std::move(parts.meter)),
        redactor_(std::move(parts.redactor)),
        trace_(parts.trace),
        log_(parts.log),
        records_(*meter_, trace_, *redactor_, [this](const std::string& why) { not_recorded(why); }),
        server_(server_options(parts.longest_answer), *this, log_) {
    add_routes();
    server_.add_listener(httpd::adopt_listener(std::move(parts.listener), std::move(parts.name)));
  }

  std::optional<DoorClosed> closed() const override { return state_.lock()->closed; }
  int requests() const override { return state_.lock()->requests; }
  const std::string& model_name() const override { return models_->names().front(); }
  const std::string& metered_name() const override { return models_->job_model().upstream.name; }

 private:
  struct State {
    std::optional<DoorClosed> closed;
    int requests = 0;
  };

  void add_routes();
  httpd::Response list_models() const;

  // httpd::Site. Nobody is admitted by name: who can connect is this run's sandbox.
  const httpd::Router& router() const override { return router_; }
  void screen(const httpd::Request&) override {}
  void admit(httpd::Request&, const httpd::Route&) override {}
  httpd::Response failure(const httpd::Request& request, const std::exception& error) noexcept override;
  void served(const httpd::Served&) override {}

  /// Answers one model request.
  void pass(DoorPath path, const httpd::Request& request, httpd::AnswerWriter& answer, const Stop& stop);
  void forward(Passing& passing, httpd::AnswerWriter& answer, const Stop& stop);
  /// Room for a request under the budgets; closes the door when there will be none.
  Reservations::Held reserve(const Meter::Asked& asked, const Stop& stop);
  /// Counts what the provider has answered, and gives it to the records, with what was `held` for it.
  void note(Passing& passing, const DoorModel& model, Reservations::Held held, const Stop& stop);
  /// Throws permission_denied when nothing is answered any more.
  void require_open() const;
  /// The first reason stands.
  void close(Reason reason, const std::string& text);
  void not_recorded(const std::string& why);

  std::unique_ptr<DoorModels> models_;
  std::unique_ptr<Meter> meter_;
  std::unique_ptr<Redactor> redactor_;
  TraceSink& trace_;
  Log& log_;
  mutable Guarded<State> state_;
  httpd::Router router_;
  DoorRecords records_;
  httpd::Server server_;  // last: its threads use all above
};

void Door::add_routes() {
  const auto open = httpd::Access::open();
  router_.add({.method = Method::head, .pattern = "/", .access = open, .handler = [](const auto&, const auto&) {
                 return httpd::text_response(200, "application/json", "");
               }});
  router_.add({.method = Method::get,
               .pattern = "/v1/models",
               .access = open,
               .handler = [this](const auto&, const auto&) { return list_models(); },
               .any_query = true,
               .answers_head = false});
  const std::pair<const char*, DoorPath> paths[] = {
      {"/v1/messages", DoorPath::messages}, {"/v1/chat/completions", DoorPath::chat_completions}, {"/v1/responses", DoorPath::responses}};
  for (const auto& [pattern, path] : paths) {
    router_.add({.method = Method::post,
                 .pattern = pattern,
                 .access = open,
                 .handler =
                     [this, path = path](const httpd::Request& request, const Stop&) {
                       httpd::Response response;
                       response.relay = [this, path, &request](auto& answer, const Stop& stop) { pass(path, request, answer, stop); };
                       return response;
                     },
                 .any_query = true,
                 .body_bytes = kMostDoorBodyBytes});
  }
  router_.otherwise([](const auto&, const auto&) -> httpd::Response {
    return error_answer(told_for(ErrorCode::not_found), "there is nothing at this path");
  });
}

/// Made here and not by the provider: what else it has is of no use inside.
httpd::Response Door::list_models() const {
  json list = json::array();
  for (const std::string& name : models_->names())
    list.push_back({{"id", name},
                    {"type", "model"},
                    {"object", "model"},
                    {"display_name", name},
                    {"owned_by", "forge"},
                    {"created", 0},
                    {"created_at", "1970-01-01T00:00:00Z"}});
  return httpd::json_response(200, dump_json({{"object", "list"},
                                              {"data", list},
                                              {"has_more", false},
                                              {"first_id", models_->names().front()},
                                              {"last_id", models_->names().back()}}));
}

httpd::Response Door::failure(const httpd::Request&, const std::exception& error) noexcept {
  const auto* known = dynamic_cast<const Error*>(&error);
  const Told told = told_for(known == nullptr ? ErrorCode::internal : known->code());
  if (told.status >= 500) log_.warn("a model request from inside failed", {{"error", redactor_->apply(error.what())}});
  const bool for_client = known != nullptr && told.status < 500 && !known->client_text().empty();
  return error_answer(told, for_client ? known->client_text() : told.message);
}

void Door::pass(DoorPath path, const httpd::Request& request, httpd::AnswerWriter& answer, const Stop& stop) {
  require_open();
  const AskedModel asked = find_model(request.body);
  DoorModel& model = models_->find(asked.name);
  if (!model.upstream.speaks(format_of(path)))
    throw public_failure(ErrorCode::not_found, "the model '" + asked.name + "' is not to be had at this path: it speaks another format");
  Reservations::Held held = reserve(
      {.model = model.upstream.name, .request_bytes = request.body.size(), .most_output_tokens = most_output_tokens(request.body, path)},
      stop);
  require_open();  // it may have waited
  Passing passing(path, request, model, asked, *redactor_, trace_);
  try {
    forward(passing, answer, stop);
  } catch (const std::exception&) {
    note(passing, model, std::move(held), stop);  // billed all the same
    throw;
  }
  note(passing, model, std::move(held), stop);
  const auto refused = passing.refused();
  if (!refused) return;
  if (models_->is_job_model(model)) close(Reason::auth_error, *refused);
  require_open();
  log_.warn("a helper model was refused", {{"answer", *refused}});
  throw public_failure(ErrorCode::permission_denied, "the provider of '" + asked.name + "' refuses it");
}

Reservations::Held Door::reserve(const Meter::Asked& asked, const Stop& stop) {
  try {
    return meter_->reserve(asked, stop);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::budget_exhausted) close(Reason::budget_exhausted, e.client_text());
    throw;
  }
}

void Door::forward(Passing& passing, httpd::AnswerWriter& answer, const Stop& stop) {
  try {
    passing.run(answer, stop);
  } catch (const Error& e) {
    // A cassette that knows no such request: asking again cannot help.
    if (e.code() != ErrorCode::invalid_argument || e.client_text().empty()) throw;
    close(Reason::api_error, e.client_text());
    require_open();
  }
}

void Door::note(Passing& passing, const DoorModel& model, Reservations::Held held, const Stop& stop) {
  if (passing.status() == 0) return;
  ++state_.lock()->requests;
  DoorRecord record{.status = passing.status(), .request = passing.sent_body(), .answer = passing.read(), .held = std::move(held)};
  record.billed = passing.status() < 400;
  if (record.billed) {
    record.counted = meter_->count(record.answer.request_id, model.upstream.name, record.answer.usage);
  } else {
    record.counted.model = model.upstream.name;
    record.counted.cost_nano_usd = 0;  // nothing would say that the model has no known price
    record.answer.stop_reason = "error";
    record.answer.usage_estimated = false;
  }
  records_.add(std::move(record), stop);
}

// The provider's own words stay outside: they may speak of accounts and addresses.
void Door::require_open() const {
  const auto closed = this->closed();
  if (!closed) return;
  const bool budget = closed->reason == Reason::budget_exhausted;
  throw public_failure(ErrorCode::permission_denied,
                       "no more model calls are answered in this run" + (budget ? ": " + closed->text : std::string()));
}

void Door::close(Reason reason, const std::string& text) {
  auto state = state_.lock();
  if (!state->closed) state->closed = DoorClosed{reason, text};
}

void Door::not_recorded(const std::string& why) {
  log_.error("a model request could not be recorded", {{"error", why}});
  close(Reason::api_error, "what the model answered could not be recorded, so that no more is asked");
}

}  // namespace

std::unique_ptr<ModelDoor> make_door(DoorParts parts) { return std::make_unique<Door>(std::move(parts)); }

}  // namespace forge::egress
