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

template <typename Flags>
struct Flag {
  const char* name;
  bool Flags::*member;
};

constexpr Flag<ModelFaults> kFaults[] = {{"drip", &ModelFaults::drip},     {"crlf", &ModelFaults::crlf},
                                         {"hang", &ModelFaults::hang},     {"reset", &ModelFaults::reset},
                                         {"no_end", &ModelFaults::no_end}, {"refuse_stream_options", &ModelFaults::refuse_stream_options}};

using models::StreamOddities;
constexpr Flag<StreamOddities> kOddities[] = {
    {"repeat_usage", &StreamOddities::repeat_usage}, {"missing_done", &StreamOddities::missing_done},
    {"no_usage", &StreamOddities::no_usage},         {"no_index", &StreamOddities::no_index},
    {"zero_index", &StreamOddities::zero_index},     {"null_ids", &StreamOddities::null_ids},
    {"whole_text", &StreamOddities::whole_text},     {"repeat_ids", &StreamOddities::repeat_ids},
    {"whole_calls", &StreamOddities::whole_calls},   {"null_choices", &StreamOddities::null_choices}};

/// False when no flag has that name.
template <typename Flags, std::size_t N>
bool set_flag(const Flag<Flags> (&known)[N], const std::string& name, Flags& flags) {
  for (const Flag<Flags>& flag : known) {
    if (name != flag.name) continue;
    flags.*flag.member = true;
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> model_events(const models::ScriptStep& step, const models::StreamAnswer& answer, const ModelFaults& faults) {
  models::StreamOddities oddities = faults.oddities;
  oddities.no_usage = oddities.no_usage || faults.refuse_stream_options;
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
  if (key == "split_at") {
    split_at = number;
    return;
  }
  if (key == "error_after") {
    error_after = number;
    return;
  }
  if (!set_flag(kFaults, key, *this) && !set_flag(kOddities, key, oddities)) throw bad_input("fault", "there is no fault '" + name + "'");
}

}  // namespace forge::test
