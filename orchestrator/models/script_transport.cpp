#include "orchestrator/models/script_transport.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/guarded.h"
#include "orchestrator/base/json_reader.h"
#include "orchestrator/models/json_fields.h"
#include "orchestrator/models/script_events.h"

namespace forge::models {
namespace {

using nlohmann::json;

/// One script, whoever plays it.
struct Play {
  explicit Play(std::vector<ScriptStep> all) : steps(std::move(all)) {}

  /// Whether the step fails this time.
  bool fails(std::size_t number) {
    const ScriptStep& step = steps[number];
    if (!step.error) return false;
    return step.error->times == 0 || (*errors_told.lock())[number]++ < step.error->times;
  }

  const std::vector<ScriptStep> steps;
  Guarded<std::map<std::size_t, std::int64_t>> errors_told;  // by step
};

std::optional<WireFormat> format_of(const std::string& url) {
  const std::string path = url.substr(0, url.find('?'));
  if (path.ends_with("/v1/messages")) return WireFormat::anthropic;
  if (path.ends_with("/chat/completions")) return WireFormat::openai;
  return {};
}

StreamAnswer asked_of(const net::HttpRequest& request, WireFormat format) {
  StreamAnswer asked{.format = format};
  const json body = parse_leniently(request.body);
  asked.model = text_field(body, "model");
  const json* messages = field(body, "messages");
  if (messages == nullptr || !messages->is_array()) return asked;
  for (const json& message : *messages)
    if (text_field(message, "role") == "assistant") ++asked.number;
  return asked;
}

class ScriptTransport final : public Transport {
 public:
  explicit ScriptTransport(std::shared_ptr<Play> play) : play_(std::move(play)) {}

  net::HttpHead stream(const net::HttpRequest& request, const net::HttpReceiver& receiver, const Stop& stop) override {
    stop.check();
    const auto format = format_of(request.url);
    if (!format) return tell(receiver, 404, {}, error_body(WireFormat::anthropic, 404, "a script has no such path"));
    const StreamAnswer asked = asked_of(request, *format);
    if (asked.number >= play_->steps.size())
      return tell(receiver, 400, {},
                  error_body(*format, 400, fmt::format("the script has {} steps, and the conversation asks for one more", asked.number)));
    const ScriptStep& step = play_->steps[asked.number];
    if (step.delay_ms > 0) forge::pause(std::chrono::milliseconds(step.delay_ms), stop);
    if (play_->fails(asked.number)) return fail(receiver, *format, *step.error);
    net::HttpHead head{200,
                       {{"content-type", "text/event-stream; charset=utf-8"},
                        {"request-id", fmt::format("scripted-{}", asked.number + 1)},
                        {"x-request-id", fmt::format("scripted-{}", asked.number + 1)}}};
    if (receiver.head) receiver.head(head);
    for (const std::string& event : stream_events(step, asked)) {
      stop.check();
      if (receiver.body) receiver.body(event);
    }
    return head;
  }

 private:
  static net::HttpHead tell(const net::HttpReceiver& receiver, int status, std::vector<net::HttpHeader> headers, const std::string& body) {
    headers.push_back({"content-type", "application/json"});
    net::HttpHead head{status, std::move(headers)};
    if (receiver.head) receiver.head(head);
    if (receiver.body) receiver.body(body);
    return head;
  }

  static net::HttpHead fail(const net::HttpReceiver& receiver, WireFormat format, const ScriptError& error) {
    std::vector<net::HttpHeader> headers;
    if (error.retry_after_ms) headers.push_back({"retry-after-ms", std::to_string(*error.retry_after_ms)});
    if (error.retry_after_ms) headers.push_back({"retry-after", std::to_string((*error.retry_after_ms + 999) / 1000)});
    return tell(receiver, error.status, std::move(headers), error_body(format, error.status, "scripted error"));
  }

  std::shared_ptr<Play> play_;
};

}  // namespace

// Shared: each transport is its own exchange, and all of them play one script.
std::function<std::unique_ptr<Transport>()> make_script_transports(std::vector<ScriptStep> steps) {
  return [play = std::make_shared<Play>(std::move(steps))] { return std::make_unique<ScriptTransport>(play); };
}

}  // namespace forge::models
