#include "adapters/claude_code/session.h"

#include <fmt/format.h>

#include <utility>

#include "adapters/claude_code/prompt.h"
#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::adapters::claude_code {
namespace {

constexpr auto kPrepareTime = std::chrono::seconds(30);

}  // namespace

Session::Session(const RunContext& context, const OpenDoor& open_door, Options options)
    : context_(context),
      options_(options),
      trace_(context.trace, context.job.spec.limits.max_tokens, [this] { over_limit(); }),
      door_(open_door(trace_)),
      system_prompt_(appended_prompt(context.job.spec, context.instructions)),
      session_id_(context.resume ? context.resume->id : new_session_id()) {
  trace_.set_job_model(door_->metered_name());
}

void Session::over_limit() {
  auto watch = watch_.lock();
  if (*watch != nullptr) (*watch)->end_now();
}

// One shell for both: who we are inside, and folders that nobody prepared for us.
void Session::prepare(const Stop& stop) {
  sandbox::CommandSpec command;
  command.argv = {"/bin/sh",
                  "-c",
                  R"(id -u && rm -rf -- "$1" && mkdir -p -m 700 -- "$1" "$2")",
                  "sh",
                  std::string(kStateFolder),
                  std::string(kTempFolder)};
  command.cwd = "/";
  command.timeout = kPrepareTime;
  const auto result = context_.sandbox.run(command, stop);
  if (!result.exit.ok())
    throw public_failure(ErrorCode::unavailable, "the home directory of the sandbox cannot be used: " + result.err.text());
  as_root_ = trim(result.out.text()) == "0";
  if (context_.resume) {
    context_.sandbox.write_file(transcript_path(session_id_), context_.resume->data, stop);
    begun_ = true;
  }
  prepared_ = true;
}

AgentResult Session::prompt(const std::string& text, const Stop& stop) {
  stop.check();
  if (!prepared_) prepare(stop);
  const std::int64_t turns_left = context_.job.spec.limits.max_turns - trace_.turns();
  if (turns_left <= 0) {
    trace_.append(trace::Limit{"max_turns", trace_.turns(), context_.job.spec.limits.max_turns});
    return {.reason = Reason::max_turns, .summary = {}, .error = "the agent used its turns without ending"};
  }
  if (tokens_are_used()) return {.reason = Reason::budget_exhausted, .summary = {}, .error = "the agent used its tokens without ending"};
  AgentResult result = run(command_for({.prompt = text,
                                        .model = door_->model_name(),
                                        .system_prompt = system_prompt_,
                                        .session_id = session_id_,
                                        .resume = begun_,
                                        .max_turns = turns_left,
                                        .as_root = as_root_}),
                           stop);
  if (result.reason == Reason::max_turns) trace_.append(trace::Limit{"max_turns", trace_.turns(), context_.job.spec.limits.max_turns});
  return result;
}

AgentResult Session::run(const sandbox::CommandSpec& command, const Stop& stop) {
  Stream stream(trace_);
  EndWatch watch(stop);
  *watch_.lock() = &watch;
  if (tokens_are_used()) watch.end_now();  // counted when there was no watch to tell
  sandbox::CommandResult ended;
  try {
    ended = run_watched(command, stream, watch, stop);
  } catch (...) {
    end_prompt(stream);
    throw;
  }
  end_prompt(stream);
  const Heard& heard = stream.heard();
  if (heard.result && heard.result->reported_cost_nano_usd)
    reported_nano_usd_ = reported_nano_usd_.value_or(0) + *heard.result->reported_cost_nano_usd;
  AgentResult result =
      result_of({.heard = heard, .command = ended, .door = door_->closed(), .over_tokens = tokens_are_used() && !heard.result});
  result.reported_cost_nano_usd = reported_nano_usd_;
  return result;
}

void Session::end_prompt(Stream& stream) {
  *watch_.lock() = nullptr;
  stream.finish();
  begun_ = begun_ || stream.heard().started;  // however it ended, there is a conversation now
}

sandbox::CommandResult Session::run_watched(sandbox::CommandSpec command, Stream& stream, EndWatch& watch, const Stop& stop) {
  LineReader lines;
  const auto take = [&](std::string_view line) {
    stream.line(line);
    if (stream.heard().result || door_->closed()) watch.expect_end_within(options_.end_time);
  };
  command.on_output = [&](std::string_view piece, bool is_stderr) {
    trace_.alive();
    if (!is_stderr) lines.add(piece, take);
  };
  sandbox::CommandResult result;
  try {
    result = context_.sandbox.run(command, watch.stop());
  } catch (const Error& e) {
    if (e.code() != ErrorCode::cancelled) throw;
    stop.check();  // somebody outside wants the end
    result.ended = sandbox::Ended::killed;
  }
  if (const std::string rest = lines.rest(); !rest.empty()) take(rest);
  if (lines.left_out() > 0)
    trace_.append(trace::LogLine{
        "warn", fmt::format("{} lines of claude-code over {} were left out", lines.left_out(), human_bytes(LineReader::kMaxLineBytes))});
  return result;
}

std::optional<SavedSession> Session::save(const Stop& stop) {
  if (!begun_) return {};
  try {
    return SavedSession{session_id_, context_.sandbox.read_file(transcript_path(session_id_), kMaxSavedSessionBytes, stop)};
  } catch (const Error& e) {
    if (e.code() == ErrorCode::cancelled || e.code() == ErrorCode::timed_out) throw;
    trace_.append(trace::LogLine{
        "warn", fmt::format("the agent's conversation is not kept, so no later run can go on with it ({})", name_of(e.code()))});
    return {};
  }
}

}  // namespace forge::adapters::claude_code
