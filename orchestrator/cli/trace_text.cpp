#include "orchestrator/cli/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/base/json_reader.h"
#include "orchestrator/base/numbers.h"
#include "orchestrator/base/text.h"

namespace forge::cli {
namespace {

using nlohmann::json;

// The agent's own words are the most readable part of a trace, and rarely long.
constexpr std::size_t kWordLines = 40;

// Lenient: a trace of an older or newer Forge is shown as far as it is understood.
std::string field_text(const json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t field_number(const json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::optional<std::int64_t> field_maybe(const json& data, const char* key) {
  const auto found = data.find(key);
  return found != data.end() && found->is_number_integer() ? std::optional(found->get<std::int64_t>()) : std::nullopt;
}

/// A payload: whole, or head and tail with what is between them in a blob.
std::string payload(const json& data, const char* key) {
  const json& value = key == nullptr ? data : data.value(key, json::object());
  if (!value.is_object()) return "";
  if (value.contains("text")) return field_text(value, "text");
  const auto left_out =
      field_number(value, "bytes") - static_cast<std::int64_t>(field_text(value, "head").size() + field_text(value, "tail").size());
  return fmt::format("{}\n[... {} left out ...]\n{}", field_text(value, "head"),
                     human_bytes(static_cast<std::size_t>(std::max<std::int64_t>(0, left_out))), field_text(value, "tail"));
}

std::string took(const json& data) { return human_duration_ms(field_number(data, "duration_ms")); }

/// "exit 1, 2.3 s" in the colour of its outcome.
std::string outcome(const json& data, bool ok, const Paint& paint) {
  const auto code = field_maybe(data, "exit_code");
  const std::string word = code ? fmt::format("exit {}", *code) : ok ? "ok" : "failed";
  return (ok ? paint.green(word) : paint.red(word)) + ", " + took(data);
}

/// A script's path says little and is long; a model's name stays as it is.
std::string shown_model(const std::string& name) {
  return name.starts_with("scripted:") ? "scripted:" + name.substr(name.find_last_of("/:") + 1) : name;
}

/// The arguments of a call as one readable text: the one that tells most, or all of them as JSON.
std::string shown_arguments(const std::string& arguments) {
  const json value = parse_leniently(arguments);
  if (!value.is_object()) return arguments;
  for (const char* key : {"command", "path", "file_path", "pattern", "query", "url"})
    if (value.contains(key) && value.at(key).is_string()) return field_text(value, key);
  return value.empty() ? "" : dump_json(value);
}

/// One event's lines in the making.
class Lines {
 public:
  Lines(const TraceEvent& event, const TraceTextOptions& options)
      : data_(json::parse(event.data_json, nullptr, false)), type_(event.type), options_(options), paint_(options.paint) {}

  std::vector<std::string> make() {
    if (data_.is_object()) describe();
    return std::move(lines_);
  }

 private:
  void describe() {
    switch (type_) {
      case TraceType::state: return state();
      case TraceType::sandbox: return sandbox();
      case TraceType::git: return line("git " + field_text(data_, "action"), field_text(data_, "detail"), paint_.dim(took(data_)));
      case TraceType::setup: return command("setup");
      case TraceType::turn: return add(paint_.bold(fmt::format("turn {}", field_number(data_, "number"))));
      case TraceType::model: return model();
      case TraceType::text: return words(payload(data_, nullptr), false);
      case TraceType::thinking: return options_.thinking ? words(payload(data_, nullptr), true) : void();
      case TraceType::tool_call: return line(field_text(data_, "name"), shown_arguments(payload(data_, "arguments")), "");
      case TraceType::tool_result: return tool_result();
      case TraceType::retry: return retry();
      case TraceType::network: return network();
      case TraceType::verify: return command("verify");
      case TraceType::finding: return finding();
      case TraceType::limit:
        return warn("limit",
                    fmt::format("{}: {} of {}", field_text(data_, "what"), field_number(data_, "value"), field_number(data_, "limit")));
      case TraceType::budget: return budget();
      case TraceType::steer: return line("steer", payload(data_, nullptr), "");
      case TraceType::permission:
        return line("permission",
                    fmt::format("{} {}: {}", field_text(data_, "tool"), field_text(data_, "decision"), field_text(data_, "message")), "");
      case TraceType::compaction:
        return line("compaction",
                    fmt::format("{} > {} tokens", short_count(field_number(data_, "tokens_before")),
                                short_count(field_number(data_, "tokens_after"))),
                    "");
      case TraceType::log: return log();
      case TraceType::terminal: return;  // the summary says it
    }
  }

  void add(std::string line) { lines_.push_back(std::move(line)); }

  /// "  name  text  tail", the text cut to what the width leaves.
  /// Cutting the text and not the tail keeps exit status and time on the line.
  void line(const std::string& name, const std::string& middle, const std::string& tail) {
    const std::size_t taken = 4 + std::max<std::size_t>(columns_of(name), 11) + 2 + 12;
    const std::string shown = one_line(middle, options_.width > taken + 20 ? options_.width - taken : 20);
    std::string made = "  " + paint_.cyan(padded(one_line(name, 40), 11)) + " " + shown;
    if (!tail.empty()) made += "  " + tail;
    while (made.ends_with(' ')) made.pop_back();
    add(std::move(made));
  }

  void warn(const std::string& name, const std::string& message) {
    add("  " + paint_.yellow(padded(name, 11)) + " " + one_line(message, 300));
  }

  /// Output of a command below it, shortened to its beginning, or, where it failed, to its end: there stands why.
  void output(const std::string& whole, bool ok) {
    const auto all = split_lines(trim(whole).empty() ? std::string_view() : std::string_view(whole));
    const std::size_t shown = options_.output_lines == 0 ? all.size() : std::min(all.size(), options_.output_lines);
    const std::size_t left_out = all.size() - shown;
    const std::size_t first = ok ? 0 : left_out;
    if (left_out > 0 && !ok) add("    " + paint_.dim(fmt::format("| ... {} before", counted(left_out, "line"))));
    for (std::size_t i = first; i < first + shown; ++i) {
      const std::string line = fitted(all[i], options_.width - 6);
      add("    " + paint_.dim(line.empty() ? "|" : "| " + line));
    }
    if (left_out > 0 && ok) add("    " + paint_.dim(fmt::format("| ... {}", counted(left_out, "more line"))));
  }

  void words(const std::string& said, bool dim) {
    const auto all = split_lines(trim(said));
    for (std::size_t i = 0; i < all.size() && i < kWordLines; ++i) {
      const std::string clean = harmless(all[i]);
      add(clean.empty() ? "" : "  " + (dim ? paint_.dim(clean) : clean));
    }
    if (all.size() > kWordLines) add("  " + paint_.dim("... " + counted(all.size() - kWordLines, "more line")));
  }

  void state() {
    const std::string to = field_text(data_, "to");
    const auto known = parse_job_state(to);
    if (known && is_final(*known)) return;            // the summary says it
    if (known && *known == JobState::leased) return;  // a moment of bookkeeping
    std::string made = paint_.bold(to);
    if (const auto note = field_text(data_, "note"); !note.empty()) made += ": " + one_line(note, 200);
    add(made);
  }

  void sandbox() {
    if (field_text(data_, "action") == "released") return;
    line("sandbox", fmt::format("{} from {} ({})", field_text(data_, "action"), field_text(data_, "template"), field_text(data_, "driver")),
         paint_.dim(took(data_)));
    for (const auto& missing : data_.value("unenforced", json::array()))
      if (missing.is_string()) warn("not enforced", missing.get<std::string>());
  }

  void command(const std::string& name) {
    const bool ok = field_maybe(data_, "exit_code") == 0;
    line(name, field_text(data_, "command"), outcome(data_, ok, paint_));
    if (!ok || options_.output_lines == 0) output(payload(data_, "output"), ok);
  }

  void model() {
    const json usage = data_.value("usage", json::object());
    const std::int64_t in = field_number(usage, "input") + field_number(usage, "cache_read") + field_number(usage, "cache_write");
    line("model",
         fmt::format("{}: {} in, {} out", shown_model(field_text(data_, "model")), short_count(in),
                     short_count(field_number(usage, "output"))),
         paint_.dim(format_usd(field_maybe(data_, "cost_nano_usd")) + ", " + took(data_)));
  }

  void tool_result() {
    const bool ok = data_.value("ok", true);
    output(payload(data_, "output"), ok);
    std::string made = "    " + outcome(data_, ok, paint_);
    if (data_.value("truncated", false))
      made += paint_.dim(", cut from " + human_bytes(static_cast<std::size_t>(field_number(data_, "bytes"))));
    add(made);
  }

  void retry() {
    std::string message = fmt::format("{}, attempt {}, waits {}", field_text(data_, "what"), field_number(data_, "attempt"),
                                      human_duration_ms(field_number(data_, "delay_ms")));
    if (const auto status = field_maybe(data_, "status")) message += fmt::format(", status {}", *status);
    if (const auto why = field_text(data_, "message"); !why.empty()) message += ": " + why;
    warn("retry", message);
  }

  void network() {
    const bool allowed = field_text(data_, "decision").starts_with("allow");
    const std::string host = fmt::format("{}:{}", field_text(data_, "host"), field_number(data_, "port"));
    if (allowed) return line("network", host, paint_.dim(field_text(data_, "decision")));
    warn("network", fmt::format("{} {} {}", host, field_text(data_, "decision"), field_text(data_, "hint")));
  }

  void finding() {
    const std::string path = field_text(data_, "path");
    warn("finding", path.empty() ? field_text(data_, "message") : path + ": " + field_text(data_, "message"));
  }

  void budget() {
    warn("budget", fmt::format("{} of the {}'s {} spent: {}", format_usd(field_number(data_, "spent_nano_usd")), field_text(data_, "scope"),
                               format_usd(field_number(data_, "limit_nano_usd")), field_text(data_, "action")));
  }

  void log() {
    const std::string level = field_text(data_, "level");
    if (level == "debug" && options_.output_lines != 0) return;
    line(level, field_text(data_, "message"), "");
  }

  const json data_;
  const TraceType type_;
  const TraceTextOptions& options_;
  const Paint& paint_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> trace_lines(const TraceEvent& event, const TraceTextOptions& options) { return Lines(event, options).make(); }

std::string short_count(std::int64_t count) {
  if (count < 1000) return std::to_string(count);
  if (count < 1'000'000) return fmt::format("{:.1f}k", static_cast<double>(count) / 1e3);
  return fmt::format("{:.1f}M", static_cast<double>(count) / 1e6);
}

void RunTally::add(const TraceEvent& event) {
  const json data = json::parse(event.data_json, nullptr, false);
  if (!data.is_object()) return;
  if (event.type == TraceType::turn) turn = static_cast<int>(field_number(data, "number"));
  if (event.type == TraceType::state) state = parse_job_state(field_text(data, "to"));
  if (event.type == TraceType::terminal) ended = true;
  if (event.type != TraceType::model) return;
  const json usage = data.value("usage", json::object());
  for (const char* key : {"input", "output", "cache_read", "cache_write"}) tokens += field_number(usage, key);
  const auto cost = field_maybe(data, "cost_nano_usd");
  unpriced = unpriced || !cost;
  cost_nano_usd += cost.value_or(0);
}

std::string RunTally::text() const {
  std::string made(state ? name_of(*state) : "waiting");
  if (turn > 0) made += fmt::format(", turn {}", turn);
  if (tokens > 0) made += fmt::format(", {} tokens", short_count(tokens));
  if (unpriced && cost_nano_usd == 0) return made + (tokens > 0 ? ", unpriced" : "");
  if (cost_nano_usd > 0) made += ", " + format_usd(cost_nano_usd);
  return made;
}

}  // namespace forge::cli
