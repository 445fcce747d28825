#include "orchestrator/models/scripted.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/models/json_fields.h"

namespace forge::models {
namespace {

constexpr std::string_view kPrefix = "scripted:";
constexpr std::int64_t kContextWindow = 200'000;  // that of a common model, so that compaction starts where it would

class ScriptedModel final : public Model {
 public:
  ScriptedModel(std::string name, std::vector<ScriptStep> steps, RetryPolicy retries)
      : name_(std::move(name)), steps_(std::move(steps)), retries_(std::move(retries)) {}

  const std::string& name() const override { return name_; }
  std::int64_t context_window() const override { return kContextWindow; }

  ModelResponse complete(const ModelRequest& request, ModelObserver& observer, const Stop& stop) override {
    const auto speaks = [](const ChatMessage& message) { return message.speaker == Speaker::assistant; };
    const auto number = static_cast<std::size_t>(std::count_if(request.messages.begin(), request.messages.end(), speaks));
    if (number >= steps_.size()) {
      throw public_failure(ErrorCode::invalid_argument,
                           fmt::format("{} has {} steps, and the conversation asks for one more", name_, steps_.size()));
    }
    std::int64_t attempts = 0;
    return with_retries(retries_, observer, stop, [&] { return attempt(number, ++attempts, observer, stop); });
  }

 private:
  Attempt attempt(std::size_t number, std::int64_t attempt_number, ModelObserver& observer, const Stop& stop) const;
  Attempt failed(const ScriptError& error) const;

  std::string name_;
  std::vector<ScriptStep> steps_;
  RetryPolicy retries_;
};

Attempt ScriptedModel::failed(const ScriptError& error) const {
  Failure failure{.code = code_of_status(error.status),
                  .status = error.status,
                  .retryable = is_retryable(error.status),
                  .retry_after = {},
                  .message = fmt::format("scripted answered {}", error.status)};
  if (error.retry_after_ms) failure.retry_after = std::chrono::milliseconds(*error.retry_after_ms);
  return failure;
}

/// The step as a response. Ids are made from step and position, so that a replay is the same each time.
ModelResponse response_of(const ScriptStep& step, std::size_t number) {
  ModelResponse response;
  response.request_id = fmt::format("scripted-{}", number + 1);
  response.model = "scripted";
  response.stop_reason = step.stop;
  response.usage = step.usage;
  const bool cut = step.stop == StopReason::max_tokens || step.stop == StopReason::context_overflow;
  if (!step.thinking.empty()) response.blocks.emplace_back(ThinkingBlock{step.thinking, fmt::format("scripted-{}", number + 1), false});
  if (!step.text.empty()) response.blocks.emplace_back(TextBlock{step.text});
  for (std::size_t i = 0; i < step.tools.size(); ++i) {
    const ScriptTool& tool = step.tools[i];
    std::string id = tool.id.empty() ? fmt::format("call_{}_{}", number + 1, i + 1) : tool.id;
    response.blocks.emplace_back(ToolUseBlock{std::move(id), tool.name, tool.arguments, !cut && is_strict_object(tool.arguments)});
  }
  return response;
}

/// The delay comes first, also before an error: a slow failure is what time-outs are tested with.
Attempt ScriptedModel::attempt(std::size_t number, std::int64_t attempt_number, ModelObserver& observer, const Stop& stop) const {
  const ScriptStep& step = steps_[number];
  const auto start = SteadyClock::now();
  const auto passed_ms = [&] { return std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - start).count(); };
  if (step.delay_ms > 0) forge::pause(std::chrono::milliseconds(step.delay_ms), stop);
  if (step.error && (step.error->times == 0 || attempt_number <= step.error->times)) return failed(*step.error);
  if (!step.thinking.empty()) observer.thinking_delta(step.thinking);
  if (!step.text.empty()) observer.text_delta(step.text);
  if (step.cut) {
    if (step.usage.total() > 0) observer.wasted(step.usage);
    return Failure{.code = ErrorCode::unavailable,
                   .status = {},
                   .retryable = true,
                   .retry_after = {},
                   .message = "scripted: the stream ended before its last event"};
  }
  ModelResponse response = response_of(step, number);
  response.time_to_first_token_ms = passed_ms();
  response.duration_ms = passed_ms();
  return response;
}

}  // namespace

std::unique_ptr<Model> make_scripted_model(std::string name, std::vector<ScriptStep> steps, RetryPolicy retries) {
  return std::make_unique<ScriptedModel>(std::move(name), std::move(steps), std::move(retries));
}

std::unique_ptr<Model> make_scripted_model(const std::string& name, RetryPolicy retries) {
  const std::string file = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
  if (file.empty()) throw bad_input("model", "scripted: names no file", "scripted:FILE");
  return make_scripted_model(std::string(kPrefix) + file, load_script(file), std::move(retries));
}

}  // namespace forge::models
