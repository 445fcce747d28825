// The stream of OpenAI's Responses API, of which a proxy needs the end: the whole response with its usage comes in response.completed,
// response.incomplete or response.failed; text before that only in deltas. Not streamed, the response is the body.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/models/json_fields.h"
#include "orchestrator/models/openai.h"

namespace forge::models {
namespace {

using nlohmann::json;

class ResponsesReader final : public StreamReader {
 public:
  explicit ResponsesReader(ModelObserver& observer) : observer_(observer) {}

  void take(const net::SseEvent& event) override {
    const json data = parse_event(event.data);
    const std::string type = text_field(data, "type");
    const json* response = field(data, "response");
    if (text_field(data, "object") == "response") response = &data;
    if (type == "error") {
      error_ = VendorError{.status = 500, .type = text_field(data, "code"), .message = text_field(data, "message")};
    } else if (type == "response.output_text.delta" || type == "response.function_call_arguments.delta") {
      observer_.text_delta(text_field(data, "delta"));
    } else if (type.starts_with("response.reasoning") && type.ends_with(".delta")) {
      observer_.thinking_delta(text_field(data, "delta"));
    } else if (response != nullptr) {
      take_response(*response);
    }
  }

  bool complete() const override { return complete_; }
  bool whole() const override { return complete_ && !error_; }
  const std::optional<VendorError>& error() const override { return error_; }
  Usage usage() const override { return usage_; }
  ModelResponse response() override {
    ModelResponse made;
    made.request_id = id_;
    made.model = model_;
    made.stop_reason = stop_;
    made.usage = usage_;
    made.usage_estimated = !usage_told_;
    return made;
  }

 private:
  void take_response(const json& response) {
    id_ = text_field(response, "id");
    model_ = text_field(response, "model");
    const std::string status = text_field(response, "status");
    if (status == "failed") {
      const json* told = field(response, "error");
      error_ = VendorError{.status = 500,
                           .type = told == nullptr ? "" : text_field(*told, "code"),
                           .message = told == nullptr ? "" : text_field(*told, "message")};
    }
    if (const json* why = field(response, "incomplete_details"))
      stop_ = text_field(*why, "reason") == "content_filter" ? StopReason::refusal : StopReason::max_tokens;
    else if (calls(response))
      stop_ = StopReason::tool_use;
    complete_ = status == "completed" || status == "incomplete" || status == "failed";
    if (const json* usage = field(response, "usage")) take_usage(*usage);
  }

  static bool calls(const json& response) {
    const json* output = field(response, "output");
    return output != nullptr && output->is_array() &&
           std::any_of(output->begin(), output->end(), [](const json& item) { return text_field(item, "type") == "function_call"; });
  }

  /// input_tokens includes what was read from the cache; here the counts become disjoint.
  void take_usage(const json& usage) {
    const std::int64_t input = count_field(usage, "input_tokens").value_or(0);
    const json* details = field(usage, "input_tokens_details");
    const std::int64_t read = details == nullptr ? 0 : std::min(count_field(*details, "cached_tokens").value_or(0), input);
    usage_ = {.input = input - read, .output = count_field(usage, "output_tokens").value_or(0), .cache_read = read, .cache_write = 0};
    usage_told_ = true;
  }

  ModelObserver& observer_;
  std::string id_;
  std::string model_;
  StopReason stop_ = StopReason::end_turn;
  Usage usage_;
  bool usage_told_ = false;
  bool complete_ = false;
  std::optional<VendorError> error_;
};

}  // namespace

std::unique_ptr<StreamReader> make_responses_reader(ModelObserver& observer) { return std::make_unique<ResponsesReader>(observer); }

}  // namespace forge::models
