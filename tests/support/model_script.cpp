#include <nlohmann/json.hpp>

#include "orchestrator/base/error.h"
#include "orchestrator/base/json_reader.h"
#include "tests/support/model_stream.h"

namespace forge::test {
namespace {

using nlohmann::json;

constexpr std::int64_t kMost = 1'000'000'000;

ModelTool read_model_tool(const json& entry) {
  JsonReader reader(entry);
  ModelTool tool;
  tool.id = reader.optional_text("id").value_or("");
  tool.name = reader.text("name");
  const json* input = reader.find("input");
  tool.arguments = input == nullptr ? "{}" : input->dump();
  if (auto raw = reader.optional_text("raw_input")) tool.arguments = *raw;
  reader.finish();
  return tool;
}

void read_model_usage(const json& entry, ModelStep& step) {
  JsonReader reader(entry);
  step.input = reader.optional_integer("input", 0, kMost).value_or(0);
  step.output = reader.optional_integer("output", 0, kMost).value_or(0);
  step.cache_read = reader.optional_integer("cache_read", 0, kMost).value_or(0);
  step.cache_write = reader.optional_integer("cache_write", 0, kMost).value_or(0);
  reader.finish();
}

void read_model_error(const json& entry, ModelStep& step) {
  JsonReader reader(entry);
  step.error_status = static_cast<int>(reader.integer("status", 400, 599));
  if (const json* seconds = reader.find("retry_after_s")) step.retry_after_s = seconds->dump();
  step.error_times = reader.optional_integer("times", 1, kMost).value_or(0);
  reader.finish();
}

ModelStep read_model_step(const json& entry) {
  JsonReader reader(entry);
  ModelStep step;
  step.text = reader.optional_text("text").value_or("");
  step.thinking = reader.optional_text("thinking").value_or("");
  if (const json* tools = reader.find("tools"))
    for (const json& tool : *tools) step.tools.push_back(read_model_tool(tool));
  if (const json* usage = reader.find("usage")) read_model_usage(*usage, step);
  step.stop = reader.optional_text("stop").value_or("");
  step.delay_ms = reader.optional_integer("delay_ms", 0, kMost).value_or(0);
  if (const json* error = reader.find("error")) read_model_error(*error, step);
  step.cut = reader.optional_flag("cut").value_or(false);
  reader.finish();
  return step;
}

}  // namespace

std::vector<ModelStep> read_model_script(std::string_view json_text) {
  const json script = parse_json(json_text, "the script of the model server");
  if (!script.is_array()) throw bad_input("", "the script of the model server is no array");
  std::vector<ModelStep> steps;
  for (const json& entry : script) steps.push_back(read_model_step(entry));
  return steps;
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
