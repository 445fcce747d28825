#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/domain/job.h"
#include "tests/contract/agent.h"
#include "tests/support/model_server.h"
#include "tests/support/temp_repo.h"

namespace forge::contract {

/// One run when it is over.
struct Ended {
  Run run;
  std::vector<json> events;  ///< each with its envelope

  /// `data` of all events of a type, in order.
  std::vector<json> of(std::string_view type) const;
};

/// One agent in the real sandbox, below the real engine, store and gateway, on a small repository, with a script for its model. What must
/// hold however a run ends is asserted by ended() and by the destructor: its state and reason agree and are told last, every call has its
/// result, usage and cost are the sums of what was metered, the base is where it was, nothing is left on the machine, and the model's key
/// was in no event, file, log or question.
class Stage {
 public:
  /// Files of the repository, on branch main.
  static constexpr const char* kGreeting = "hello\n";  ///< README.md; also src/main.py and .gitignore

  Stage(Agent agent, const json& script);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  Agent agent() const { return agent_; }
  test::ModelServer& model() { return model_; }
  /// A job with limits that no row reaches by accident.
  JobSpec spec() const;

  Ended run(const JobSpec& spec);
  Ended run() { return run(spec()); }
  std::string start(const JobSpec& spec);  ///< the job's id
  void cancel(const std::string& job);
  Ended ended(const std::string& job);
  /// What runs now for this stage: those that name its data directory, and those in the cgroups of its driver.
  std::vector<std::string> processes() const;

  /// "A one\nM two": what the run's commit changes against the base.
  std::string changed(const Ended& ended) const;
  /// A file of the run's commit.
  std::string file(const Ended& ended, const std::string& path) const;
  std::string git(const std::vector<std::string>& words) const { return repo_.git(words); }

  /// What requests with these counts cost.
  static std::int64_t cost_of(const json& usage);
  /// The sum over the steps of the script.
  json script_usage() const;

 private:
  struct Parts;
  std::vector<json> events(const std::string& job);
  /// Ids of the driver's folders and cgroups.
  std::vector<std::string> instances() const;
  void check_end(const Ended& ended) const;
  void check_calls(const Ended& ended) const;
  void check_cost(const Ended& ended) const;
  void check_remains() const;
  void check_key(const std::vector<json>& events);

  const Agent agent_;
  const json script_;
  test::TempDir data_;
  test::TempRepo repo_;
  std::string base_;
  const std::string mark_;  ///< in the command line of whatever the run starts outside of its sandbox
  test::ModelServer model_;
  std::unique_ptr<Parts> parts_;  // last: it asks the model
};

}  // namespace forge::contract
