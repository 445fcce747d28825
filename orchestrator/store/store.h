#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/clock.h"
#include "orchestrator/base/ids.h"
#include "orchestrator/base/log.h"
#include "orchestrator/base/redactor.h"
#include "orchestrator/domain/access.h"
#include "orchestrator/domain/job.h"
#include "orchestrator/domain/job_control.h"
#include "orchestrator/domain/principal.h"
#include "orchestrator/domain/spending.h"
#include "orchestrator/domain/trace.h"
#include "orchestrator/store/review_store.h"

namespace forge::store {

/// Fields of a run that a step learns; only the set ones are written.
struct RunUpdate {
  std::optional<std::string> base_ref;
  std::optional<std::string> base_commit;
  std::optional<std::string> branch;
  std::optional<std::vector<std::string>> unenforced;
  std::optional<std::int64_t> started_ms;
};

/// Everything that the end of a run writes, in one transaction with its last trace event.
struct RunEnd {
  Reason reason = Reason::completed;
  std::string error;
  std::string summary;
  std::string head_commit;
  bool pushed = false;
  DiffStat diff_stat;
  std::string diff_blob;
  std::string agent_session;
  std::string agent_session_blob;
  std::optional<std::int64_t> reported_cost_nano_usd;
  std::vector<VerifyResult> verify;
  std::vector<std::string> findings;
};

/// Names one run and the right to write it: a write whose generation is not the run's current one changes nothing and returns false.
struct Lease {
  JobId job;
  RunId run;
  int run_number = 1;
  std::int64_t generation = 0;
};

struct UsageRow {
  RunId run;
  std::string request_id;
  std::string model;
  Usage usage;
  std::optional<std::int64_t> cost_nano_usd;  ///< null = unpriced
  std::string price_hash;                     ///< of the price row used; empty when unpriced
};

/// What requests cost, as far as their models had a price, and the tokens of those that had none.
struct Spending {
  std::int64_t priced_nano_usd = 0;
  Usage unpriced;
  bool operator==(const Spending&) const = default;
};

using TokenRow = AccessToken;
using SessionRow = AccessSession;

/// The state of Forge. One conformance suite runs over every implementation. Thread-safe; writes wait for their commit.
/// Errors: not_found, conflict, busy, corrupt, unavailable, and those of ReviewStore. A lost compare-and-swap is a returned false.
class Store : public ReviewStore {
 public:
  // Jobs and runs
  /// Inserts the job and, with `queued`, its first run and that run's first event, in one transaction.
  virtual Job insert_job(const JobSpec& spec, const std::string& created_by, bool queued) = 0;
  /// Whole id or unique prefix (6 or more). Throws not_found; conflict when the prefix names several.
  virtual Job job(const std::string& id_or_prefix) = 0;
  virtual JobPage jobs(const JobFilter& filter) = 0;
  virtual std::vector<Run> runs(const JobId& job) = 0;
  virtual std::optional<Run> run(const JobId& job, int number) = 0;
  /// Adds run number last+1 in state queued; the first one is RunKind::first whatever `wanted` says. Throws conflict while a run lives.
  virtual Run insert_run(const JobId& job, const RunRow& wanted) = 0;
  /// Oldest queued run > leased, generation + 1. Nothing when none waits.
  virtual std::optional<Lease> claim_run(std::int64_t lease_until_ms) = 0;
  virtual bool renew_lease(const Lease& lease, std::int64_t lease_until_ms) = 0;
  /// Compare-and-swap along domain's can_move, never into a final state; appends the `state` event in the same transaction. Throws
  /// internal for a move that can_move forbids. A move back to `queued` voids the lease, and is refused (false) when cancel_requested.
  virtual bool move_run(const Lease& lease, JobState from, JobState to) = 0;
  virtual bool update_run(const Lease& lease, const RunUpdate& update) = 0;
  /// Any live state > state_of(end.reason); appends `state` and `terminal` in the same transaction. Texts are redacted.
  virtual bool end_run(const Lease& lease, const RunEnd& end) = 0;
  /// Sets cancel_requested. A run that is still queued ends as cancelled at once, in the same transaction. Throws conflict when nothing
  /// lives.
  virtual Job request_cancel(const JobId& job) = 0;
  /// At start: every run that is leased or beyond and live ends as `interrupted` (failed). Returns them.
  virtual std::vector<Run> end_interrupted() = 0;

  // Trace
  /// Appends to the run's trace with the next seq; long payloads go to blobs. Group-committed; returns the stored event.
  /// Throws conflict once the run has ended: its `terminal` event is the last.
  virtual TraceEvent append_event(const RunId& run, const TraceData& data, std::optional<int> turn) = 0;
  /// Events with seq > `after`, at most `limit` (clamped to 1..1000). Throws not_found for an unknown run.
  virtual TracePage events(const RunId& run, std::int64_t after, int limit) = 0;
  /// Called on the writer's thread after the commit of each event and before its caller goes on, in seq order per run. Set before
  /// work starts; when a later call (with nothing, at the end) returns, the listener before it is not called any more. It must not call
  /// the store.
  virtual void on_event(std::function<void(const JobId&, const TraceEvent&)> listener) = 0;

  // Usage
  /// Stores the row and adds it to the sums of its run; one unpriced row makes the run's cost null.
  virtual void add_usage(const UsageRow& row) = 0;
  virtual std::vector<ModelCost> usage_of_run(const RunId& run) = 0;
  /// Of all runs of a job, and of all runs since `since_ms`.
  virtual Spending spending_of_job(const JobId& job) = 0;
  virtual Spending spending_since(std::int64_t since_ms) = 0;
  /// By UTC day, repository and model: the latest day first, and of a day what cost most. Throws bad_input for more than `most_rows`.
  virtual std::vector<SpendingRow> spending_of_days(const DaySpan& span, std::size_t most_rows) = 0;

  // Blobs: content-addressed files beside the database; the id is the SHA-256 in hex.
  virtual std::string put_blob(std::string_view data) = 0;
  /// The same for a text that need not stay byte for byte: secrets are redacted first.
  virtual std::string put_redacted_blob(std::string_view text) = 0;
  /// Throws not_found; corrupt when the content does not match its name.
  virtual std::string blob(const std::string& id) = 0;
  /// True when the run's trace names the blob, or it is the run's diff.
  virtual bool run_has_blob(const RunId& run, const std::string& id) = 0;

  // Access
  /// Throws conflict when a live token has that name.
  virtual TokenRow insert_token(const std::string& name, Role role, const std::string& secret_hash) = 0;
  virtual std::vector<TokenRow> tokens() = 0;
  /// By id, name or unique prefix of the id, live ones only; ends its sessions. Throws not_found, conflict.
  virtual TokenRow revoke_token(const std::string& id_or_name) = 0;
  /// Live token by the hash of its secret; marks it used (at most once a minute).
  virtual std::optional<TokenRow> token_by_hash(const std::string& secret_hash) = 0;
  /// One-time sign-in link: taken (and gone) at most once, before it expires.
  virtual void insert_sign_in(const std::string& secret_hash, Role role, std::int64_t expires_ms) = 0;
  virtual std::optional<Role> take_sign_in(const std::string& secret_hash) = 0;
  /// Throws unauthenticated when its token is no longer live.
  virtual void insert_session(const SessionRow& session) = 0;
  /// Live session by the hash of its cookie (12 h idle, 30 days at most); marks it used (at most once a minute).
  virtual std::optional<SessionRow> session_by_hash(const std::string& secret_hash) = 0;
  /// Live ones, without their hashes.
  virtual std::vector<SessionRow> sessions() = 0;
  /// Throws not_found.
  virtual void delete_session(const std::string& id) = 0;

  /// A read that touches the database: for /readyz.
  virtual void ping() = 0;
};

struct StoreOptions {
  std::string directory;  ///< holds forge.db, trace.db, blobs/, backups/
  const Clock& clock;
  const Redactor& redactor;
  Log& log;
};

/// Opens or makes the database, checks it, backs up and migrates an older one. Throws corrupt, or unsupported for a newer one
/// ("database is version 7, this forge knows 3: use the newer forge").
std::unique_ptr<Store> open_sqlite_store(const StoreOptions& options);

}  // namespace forge::store
