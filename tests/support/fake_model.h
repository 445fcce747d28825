#pragma once

#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/error.h"
#include "orchestrator/models/model.h"

namespace forge::test {

/// A model that plays steps in order and remembers what it was asked. A step is a response, or code that makes one or throws.
class FakeModel final : public models::Model {
 public:
  using Step = std::function<models::ModelResponse(const models::ModelRequest&, models::ModelObserver&, const Stop&)>;

  explicit FakeModel(std::string name = "fake/model", std::int64_t context_window = 200'000)
      : name_(std::move(name)), context_window_(context_window) {}

  FakeModel& then(Step step) {
    steps_.push_back(std::move(step));
    return *this;
  }
  FakeModel& then(models::ModelResponse response) {
    return then([response = std::move(response)](const models::ModelRequest&, models::ModelObserver&, const Stop&) { return response; });
  }
  FakeModel& then_throw(ErrorCode code, const std::string& message) {
    return then(
        [=](const models::ModelRequest&, models::ModelObserver&, const Stop&) -> models::ModelResponse { throw Error(code, message); });
  }
  /// Played over and over when the steps are used up; without it that is a failure of the test.
  FakeModel& for_ever(Step step) {
    last_ = std::move(step);
    return *this;
  }

  const std::vector<models::ModelRequest>& requests() const { return requests_; }

  const std::string& name() const override { return name_; }
  std::int64_t context_window() const override { return context_window_; }
  models::ModelResponse complete(const models::ModelRequest& request, models::ModelObserver& observer, const Stop& stop) override {
    stop.check();
    requests_.push_back(request);
    if (steps_.empty() && !last_) throw std::logic_error("the fake model has no step left");
    Step step = last_;
    if (!steps_.empty()) {
      step = std::move(steps_.front());
      steps_.pop_front();
    }
    return step(request, observer, stop);
  }

 private:
  std::string name_;
  std::int64_t context_window_;
  std::deque<Step> steps_;
  Step last_;
  std::vector<models::ModelRequest> requests_;
};

/// A response of one text, ending the turn.
inline models::ModelResponse says(const std::string& text, Usage usage = {10, 5, 0, 0}) {
  models::ModelResponse response;
  response.request_id = "req";
  response.model = "model";
  response.blocks = {models::TextBlock{text}};
  response.usage = usage;
  return response;
}

/// A response that calls one tool. `arguments` is JSON text.
inline models::ModelResponse calls(const std::string& tool, const std::string& arguments, const std::string& id = "call_1",
                                   Usage usage = {10, 5, 0, 0}) {
  models::ModelResponse response = says("", usage);
  response.blocks = {models::ToolUseBlock{id, tool, arguments, true}};
  response.stop_reason = models::StopReason::tool_use;
  return response;
}

}  // namespace forge::test
