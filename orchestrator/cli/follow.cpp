#include "orchestrator/cli/follow.h"

#include <algorithm>
#include <optional>

#include "orchestrator/base/error.h"
#include "orchestrator/base/text.h"

namespace forge::cli {
namespace {

/// Thrown through the client to end a stream whose last event was heard.
struct Heard {};

/// One run being followed over as many connections as it takes.
class Following {
 public:
  Following(ApiClient& client, const std::string& job, int run, const std::function<void(const TraceEvent&)>& hear, const Stop& stop,
            const Patience& patience)
      : client_(client), job_(job), run_(run), hear_(hear), stop_(stop), patience_(patience) {}

  Run until_ended(const std::function<void(const std::string&)>& note) {
    while (true) {
      const auto lost = attempt();
      if (ended_) return *run_seen_;
      if (run_seen_) check_attended(client_, *run_seen_);
      if (lost && client_.take_over(stop_)) {
        check_attended(client_, client_.run(job_, run_, stop_));
        continue;
      }
      const auto now = SteadyClock::now();
      if (lost && now - last_sign_ > patience_.give_up) throw *lost;
      if (lost) note(lost->client_text() + "; trying again in " + human_duration_ms(pause_.count()));
      pause(pause_, stop_);
      pause_ = std::min(pause_ * 2, patience_.most);
    }
  }

 private:
  /// One stream to its end. Returns what broke it off.
  std::optional<Error> attempt() {
    try {
      const std::int64_t before = last_seq_;
      stream();
      run_seen_ = client_.run(job_, run_, stop_);
      alive();
      // A stream may end early, on a restart of the server: the run is done with when nothing more comes.
      ended_ = is_final(run_seen_->state) && (terminal_ || last_seq_ == before);
      return {};
    } catch (const Error& e) {
      if (e.code() != ErrorCode::unavailable && e.code() != ErrorCode::busy) throw;
      return e;
    }
  }

  void stream() {
    if (terminal_) return;  // all was heard; only the run's record is missing
    try {
      client_.events(
          job_, run_, last_seq_, [this](const TraceEvent& event) { take(event); }, stop_);
    } catch (const Heard&) {  // the last event of the run
      terminal_ = true;
    }
  }

  void take(const TraceEvent& event) {
    alive();
    // A server may send again what stood around the break.
    if (event.seq <= last_seq_) return;
    last_seq_ = event.seq;
    hear_(event);
    if (event.type == TraceType::terminal) throw Heard{};
  }

  /// The server is there: patience and pauses begin anew.
  void alive() {
    last_sign_ = SteadyClock::now();
    pause_ = patience_.first;
  }

  ApiClient& client_;
  const std::string& job_;
  const int run_;
  const std::function<void(const TraceEvent&)>& hear_;
  const Stop& stop_;
  const Patience& patience_;
  SteadyClock::time_point last_sign_ = SteadyClock::now();
  std::chrono::milliseconds pause_ = patience_.first;
  std::int64_t last_seq_ = 0;
  bool terminal_ = false;
  std::optional<Run> run_seen_;
  bool ended_ = false;
};

}  // namespace

void check_attended(const ApiClient& client, const Run& run) {
  if (is_final(run.state) || !client.unattended()) return;
  throw public_failure(ErrorCode::unavailable, "the run waits, and nothing works on this data directory")
      .with_hint("start `forge serve`, or take it back with `forge cancel`");
}

Run follow_run(ApiClient& client, const std::string& job, int run, const std::function<void(const TraceEvent&)>& hear,
               const std::function<void(const std::string&)>& note, const Stop& stop, const Patience& patience) {
  return Following(client, job, run, hear, stop, patience).until_ended(note);
}

}  // namespace forge::cli
