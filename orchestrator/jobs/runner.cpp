#include "orchestrator/jobs/runner.h"

#include <chrono>
#include <memory>
#include <utility>

#include "orchestrator/base/error.h"
#include "orchestrator/base/numbers.h"
#include "orchestrator/base/text.h"
#include "orchestrator/jobs/commands.h"
#include "orchestrator/jobs/new_run.h"
#include "orchestrator/jobs/tree_commit.h"

namespace forge::jobs {
namespace {

using std::chrono::milliseconds;

// Commit, diff and push get this much however the run ended: a cancelled token must not lose the work.
constexpr auto kFinalizeLimit = std::chrono::minutes(5);
// The sandbox may hang: then the conversation is what is given up.
constexpr auto kKeepSessionLimit = std::chrono::seconds(30);
constexpr std::int64_t kDiffBytes = 64LL << 20;

/// Milliseconds since `from`.
std::int64_t since(SteadyClock::time_point from) { return std::chrono::duration_cast<milliseconds>(SteadyClock::now() - from).count(); }

/// What a person may read about `e`: its client text, or a sentence made of the step.
std::string told(const Error& e, std::string_view step) {
  if (!e.client_text().empty()) return e.hint().empty() ? e.client_text() : e.client_text() + " (" + e.hint() + ")";
  return std::string(step) + " failed (" + std::string(name_of(e.code())) + "); the server's log has the details";
}

/// One run under way. The members are what the steps hand on to each other.
class Attempt {
 public:
  Attempt(const Job& job, const Run& run, const EarlierRun& earlier, const RunTools& tools, RunTrace& trace, RunProgress& progress,
          RunStop& stop)
      : job_(job), run_(run), earlier_(earlier), tools_(tools), trace_(trace), progress_(progress), outside_(stop), stop_(stop.stop()) {}

  store::RunEnd execute() {
    if (prepare()) {
      work();
      finalize();
    }
    if (sandbox_) release();
    end_.findings = trace_.findings();
    return std::move(end_);
  }

 private:
  /// Runs one step; a failure ends the run with `reason` unless somebody outside said why. True when the step passed.
  template <typename Body>
  bool step(Reason reason, std::string_view what, Body&& body) {
    try {
      doing(what, std::forward<Body>(body));
      return true;
    } catch (const Error& e) {
      fail(e, reason, what);
      return false;
    }
  }

  void fail(const Error& e, Reason reason, std::string_view what) {
    tools_.log.warn("run step failed", {{"job", job_.id.str()}, {"run", run_.number}, {"step", what}, {"error", e.what()}});
    const bool stopped = e.code() == ErrorCode::cancelled || e.code() == ErrorCode::timed_out;
    if (const auto why = outside_.why(); stopped && why) {
      end_.reason = *why;
      end_.error = explain(*why);
      return;
    }
    if (blame_store()) return;
    const bool lost = reason == Reason::agent_crash && e.code() == ErrorCode::unavailable;  // models report theirs as a result
    end_.reason = lost ? Reason::sandbox_lost : reason;
    end_.error = told(e, what);
  }

  /// True when the run ends because what it did could not be stored.
  bool blame_store() {
    if (!trace_.store_failed()) return false;
    end_.reason = Reason::interrupted;
    end_.error = "the server could not write its data directory; is the disk full? Its log has the details";
    return true;
  }

  bool prepare() {
    return step(Reason::interrupted, "starting the run", [&] { progress_.enter(JobState::preparing); }) &&
           step(Reason::git_failed, "fetching the repository", [&] { fetch(); }) &&
           step(Reason::git_failed, "laying out the work tree", [&] { check_out(); }) &&
           step(Reason::sandbox_failed, "acquiring the sandbox", [&] { acquire(); });
  }

  void fetch() {
    const auto started = SteadyClock::now();
    base_ = tools_.git.fetch(job_.spec.repository, earlier_.run ? earlier_.run->base_commit : job_.spec.base, stop_);
    if (earlier_.run) base_.ref = earlier_.run->base_ref;
    start_ = earlier_.run ? tools_.git.with_tree_of(base_, earlier_.run->head_commit) : base_;
    trace_.append(trace::Git{"fetch", (base_.ref.empty() ? "commit" : base_.ref) + " at " + base_.commit, since(started)});
    progress_.learned({.base_ref = base_.ref, .base_commit = base_.commit});
    if (base_.uncommitted_files > 0)
      trace_.append(
          trace::Finding{"uncommitted", "", "uncommitted changes are not included (" + counted(base_.uncommitted_files, "file") + ")"});
  }

  void check_out() {
    const auto started = SteadyClock::now();
    checkout_ = tools_.git.checkout(start_, stop_);
    trace_.append(trace::Git{"checkout",
                             "tree " + start_.tree + (earlier_.run ? ", the result of run " + std::to_string(earlier_.run->number) : ""),
                             since(started)});
    for (const auto& note : checkout_->notes()) trace_.append(trace::Finding{"not_followed", "", note});
  }

  void acquire() {
    const auto started = SteadyClock::now();
    sandbox::SandboxSpec spec;
    spec.scope = "forge-job:" + job_.id.str();
    spec.contents = tools_.contents;
    spec.tree = sandbox::TreeSource{checkout_->directory()};
    spec.network = job_.spec.network;
    spec.trace = &trace_;
    spec.listener_ports = tools_.adapter.listener_ports();
    spec.files = tools_.adapter.files();
    spec.lifetime = std::chrono::seconds(job_.spec.limits.time_limit_s) + kFinalizeLimit;
    sandbox_ = tools_.driver.acquire(spec, stop_);
    trace_.append(trace::Sandbox{"acquired", sandbox_->id(), std::string(tools_.driver.name()), tools_.contents.name, sandbox_->enforced(),
                                 sandbox_->unenforced(), since(started)});
    if (!sandbox_->unenforced().empty()) progress_.learned({.unenforced = sandbox_->unenforced()});
  }

  void work() {
    step(Reason::sandbox_lost, "running setup", [&] {
      progress_.enter(JobState::running);
      end_.error = run_setup(job_.spec.setup, *sandbox_, trace_, stop_);
      if (!end_.error.empty()) end_.reason = Reason::setup_failed;
    });
    if (end_.reason == Reason::completed) step(Reason::agent_crash, "running the agent", [&] { run_agent(); });
  }

  /// What is said meanwhile is the agent's: its silence is watched.
  template <typename Body>
  auto listening(Body body) {
    const Listening to_the_agent(trace_.activity());
    return body();
  }

  void run_agent() {
    const adapters::RunContext context{job_, run_, *sandbox_, trace_, tools_.git.instructions(base_), earlier_.session};
    const auto session = start_agent(context);
    if (!session) return;
    try {
      converse(*session);
    } catch (...) {
      keep_session(*session);
      throw;
    }
    keep_session(*session);
  }

  /// Null when what the job asks for is not there any more, such as its model: no program of the agent ended, it never began.
  std::unique_ptr<adapters::AgentSession> start_agent(const adapters::RunContext& context) {
    try {
      return listening([&] { return tools_.adapter.start(context); });
    } catch (const Error& e) {
      if (e.code() != ErrorCode::invalid_argument) throw;
      fail(e, Reason::api_error, "starting the agent");
      return nullptr;
    }
  }

  /// However the agent ended: a later run may go on with it. Never the reason why a run fails.
  void keep_session(adapters::AgentSession& session) {
    try {
      const auto saved = session.save(Stop::after(kKeepSessionLimit));
      if (!saved) return;
      end_.agent_session_blob = progress_.keep_session(saved->data);
      end_.agent_session = saved->id;
    } catch (const Error& e) {
      tools_.log.warn("the agent's conversation was not kept", {{"job", job_.id.str()}, {"run", run_.number}, {"error", e.what()}});
    }
  }

  void converse(adapters::AgentSession& session) {
    std::string prompt = first_prompt(job_, run_, earlier_.run ? &*earlier_.run : nullptr);
    for (int round = 0;; ++round) {
      const auto result = listening([&] { return session.prompt(prompt, stop_); });
      end_.reported_cost_nano_usd = result.reported_cost_nano_usd;
      if (!result.summary.empty()) end_.summary = to_utf8(result.summary).text;
      end_.reason = result.reason;
      end_.error = result.error;
      if (result.reason != Reason::completed) {
        blame_store();  // an agent may take it for a failure of its model
        return;
      }
      const auto verdict = run_verify(job_.spec.verify, round, *sandbox_, trace_, stop_);
      end_.verify = verdict.results;
      if (verdict.feedback.empty()) return;
      if (round >= job_.spec.limits.verify_rounds) {
        end_.reason = Reason::verify_failed;
        end_.error = "the verify command still fails after " + std::to_string(round) + " rounds of repair";
        return;
      }
      prompt = "Your change is not finished: the checks of this repository fail. Fix the cause, do not weaken the checks.\n\n" +
               verdict.feedback;
    }
  }

  /// From here on the outside can no longer stop the run: what was done is kept whatever the reason. A cancel still keeps the push back.
  void finalize() {
    const Stop stop = Stop::after(kFinalizeLimit);
    const Reason before = end_.reason;
    const std::string error = end_.error;
    const bool kept = step(Reason::sandbox_lost, "halting the sandbox",
                           [&] {
                             progress_.enter(JobState::finalizing);
                             sandbox_->halt(stop);
                           }) &&
                      step(Reason::git_failed, "committing", [&] { commit(stop); });
    if (kept && !end_.head_commit.empty()) {
      step(Reason::git_failed, "making the diff", [&] { diff(stop); });
      heed_cancel();
      const bool cancelled = before == Reason::cancelled || outside_.why() == Reason::cancelled;
      const bool wanted = end_.reason == Reason::completed || (tools_.push_partial && !cancelled);
      if (job_.spec.push && wanted) step(Reason::push_failed, "pushing the branch", [&] { push(stop); });
    } else if (kept && end_.reason == Reason::completed) {
      end_.reason = Reason::no_changes;
    }
    if (before != Reason::completed) {  // the first failure is the reason
      end_.reason = before;
      end_.error = error;
    }
  }

  /// Who was told that the job is being cancelled must not find its branch pushed.
  void heed_cancel() {
    if (end_.reason != Reason::completed || outside_.why() != Reason::cancelled) return;
    end_.reason = Reason::cancelled;
    end_.error = explain(Reason::cancelled);
  }

  void commit(const Stop& stop) {
    const auto started = SteadyClock::now();
    const auto message = commit_message(job_, run_, end_.summary);
    try {
      const auto result = commit_changes(tools_.git, start_, *sandbox_, {}, message, run_.branch, trace_, stop);
      const bool undone = result.tree == base_.tree && !result.commit.empty();  // an earlier run's work was taken back altogether
      if (!undone) end_.head_commit = result.commit;
      trace_.append(trace::Git{"commit",
                               undone                  ? "nothing is left of the changes"
                               : result.commit.empty() ? "nothing changed"
                                                       : result.commit,
                               since(started)});
    } catch (Error& e) {
      if (e.code() != ErrorCode::limit_exceeded) throw;
      end_.reason = Reason::changes_limit;
      end_.error = told(e, "collecting the changes");
    }
  }

  void diff(const Stop& stop) {
    const auto started = SteadyClock::now();
    try {
      const auto diff = tools_.git.diff(base_, end_.head_commit, kDiffBytes, stop);
      end_.diff_stat = diff.stat;
      end_.diff_blob = progress_.keep_diff(diff.text);
      trace_.append(trace::Git{
          "diff",
          counted(diff.stat.files, "file") + ", +" + std::to_string(diff.stat.insertions) + " -" + std::to_string(diff.stat.deletions),
          since(started)});
    } catch (const Error& e) {
      if (e.code() != ErrorCode::limit_exceeded) throw;
      trace_.append(trace::Finding{"diff_too_large", "",
                                   "the diff is larger than " + human_bytes(kDiffBytes) + " and is not kept; the branch holds it"});
    }
  }

  void push(const Stop& stop) {
    const auto started = SteadyClock::now();
    tools_.git.push(base_, end_.head_commit, run_.branch, stop);
    end_.pushed = true;
    trace_.append(trace::Git{"push", run_.branch, since(started)});
  }

  void release() {
    const std::string id = sandbox_->id();
    const auto started = SteadyClock::now();
    sandbox_.reset();
    step(end_.reason, "noting the release", [&] {
      trace_.append(trace::Sandbox{"released", id, std::string(tools_.driver.name()), tools_.contents.name, {}, {}, since(started)});
    });
  }

  const Job& job_;
  const Run& run_;
  const EarlierRun& earlier_;
  const RunTools& tools_;
  RunTrace& trace_;
  RunProgress& progress_;
  RunStop& outside_;
  const Stop stop_;
  git::Base base_;                           // what the diff is against, and the commit's parent
  git::Base start_;                          // what the work tree begins with
  std::unique_ptr<git::Checkout> checkout_;  // before sandbox_: it is the lower layer of the sandbox's work tree
  std::unique_ptr<sandbox::Sandbox> sandbox_;
  store::RunEnd end_;
};

}  // namespace

store::RunEnd execute_run(const Job& job, const Run& run, const EarlierRun& earlier, const RunTools& tools, RunTrace& trace,
                          RunProgress& progress, RunStop& stop) {
  return Attempt(job, run, earlier, tools, trace, progress, stop).execute();
}

}  // namespace forge::jobs
