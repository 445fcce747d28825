#include "adapters/claude_code/turn_trace.h"

#include <utility>

namespace forge::adapters::claude_code {

int TurnTrace::turn_of(const std::string& request_id) {
  int turn = 0;
  bool is_new = false;
  {
    auto state = state_.lock();
    const auto [found, inserted] = state->by_request.try_emplace(request_id, state->turns + 1);
    turn = found->second;
    is_new = inserted;
    if (is_new) ++state->turns;
  }
  if (is_new) inner_.append(trace::Turn{turn}, turn);
  return turn;
}

void TurnTrace::append(TraceData data, std::optional<int> turn) {
  if (const auto* model = std::get_if<trace::Model>(&data)) {
    if (!turn) turn = turn_of_metered(*model);
    const Usage usage = model->usage;
    if (!turn && turns() > 0) turn = turns();
    inner_.append(std::move(data), turn);
    return count(usage);
  }
  if (!turn && turns() > 0) turn = turns();
  inner_.append(std::move(data), turn);
}

std::optional<int> TurnTrace::turn_of_metered(const trace::Model& model) {
  // What was billed of a response that was dropped belongs to the turn that tries again.
  if (model.stop_reason == "dropped" || model.stop_reason == "error" || model.request_id.empty()) return {};
  {
    auto state = state_.lock();
    const auto printed = state->by_request.find(model.request_id);
    if (printed != state->by_request.end()) return printed->second;
    if (!state->job_model.empty() && model.model != state->job_model) return {};
  }
  return turn_of(model.request_id);
}

void TurnTrace::count(const Usage& usage) {
  std::int64_t used = 0;
  {
    auto state = state_.lock();
    Usage sum{.input = state->tokens};
    sum += usage;
    state->tokens = used = sum.total();
    if (state->over || used < max_tokens_) return;
    state->over = true;
  }
  inner_.append(trace::Limit{"max_tokens", used, max_tokens_}, turns());
  over_limit_();
}

}  // namespace forge::adapters::claude_code
