#include "tests/support/model_stream.h"

#include <algorithm>

#include "orchestrator/base/error.h"

namespace forge::test {
namespace {

std::string in_stream_error(ModelFormat format) {
  const std::string body = models::error_body(format, 529, "Overloaded");
  return format == ModelFormat::anthropic ? "event: error\ndata: " + body + "\n\n" : "data: " + body + "\n\n";
}

std::string with_crlf(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return result;
}

}  // namespace

std::vector<std::string> model_events(const models::ScriptStep& step, const models::StreamAnswer& answer, const ModelFaults& faults) {
  const models::StreamOddities oddities{.repeat_usage = faults.repeat_usage,
                                        .missing_done = faults.missing_done,
                                        .no_usage = faults.refuse_stream_options,
                                        .no_index = faults.no_index,
                                        .zero_index = faults.zero_index,
                                        .null_ids = faults.null_ids,
                                        .repeat_ids = faults.repeat_ids,
                                        .whole_calls = faults.whole_calls,
                                        .null_choices = faults.null_choices};
  std::vector<std::string> events = models::stream_events(step, answer, oddities);
  if (faults.error_after) {
    events.resize(std::min(events.size(), *faults.error_after));
    events.push_back(in_stream_error(answer.format));
  }
  if (faults.crlf) std::transform(events.begin(), events.end(), events.begin(), with_crlf);
  return events;
}

void ModelFaults::set(const std::string& name) {
  const auto equals = name.find('=');
  const std::string key = name.substr(0, equals);
  const std::size_t number = equals == std::string::npos ? 0 : std::stoul(name.substr(equals + 1));
  struct Flag {
    const char* name;
    bool ModelFaults::*member;
  };
  constexpr Flag kFlags[] = {{"drip", &ModelFaults::drip},
                             {"crlf", &ModelFaults::crlf},
                             {"hang", &ModelFaults::hang},
                             {"reset", &ModelFaults::reset},
                             {"repeat_usage", &ModelFaults::repeat_usage},
                             {"missing_done", &ModelFaults::missing_done},
                             {"no_end", &ModelFaults::no_end},
                             {"no_index", &ModelFaults::no_index},
                             {"zero_index", &ModelFaults::zero_index},
                             {"null_ids", &ModelFaults::null_ids},
                             {"repeat_ids", &ModelFaults::repeat_ids},
                             {"whole_calls", &ModelFaults::whole_calls},
                             {"null_choices", &ModelFaults::null_choices},
                             {"refuse_stream_options", &ModelFaults::refuse_stream_options}};
  if (key == "split_at") {
    split_at = number;
    return;
  }
  if (key == "error_after") {
    error_after = number;
    return;
  }
  for (const Flag& flag : kFlags) {
    if (key != flag.name) continue;
    this->*flag.member = true;
    return;
  }
  throw bad_input("fault", "there is no fault '" + name + "'");
}

}  // namespace forge::test
