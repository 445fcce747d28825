-- forge.db: what Forge has promised somebody. Every commit of it survives a power cut.
-- Times are Unix milliseconds, money is integer nano-dollars, ids are 26 characters of Crockford base32 (UUIDv7), so that text order
-- is time order. Enums are stored by their names in the API.

CREATE TABLE jobs (
  id               TEXT    NOT NULL PRIMARY KEY,
  repository       TEXT    NOT NULL,             -- as asked for, without credentials; also in spec, here for filters
  spec             TEXT    NOT NULL CHECK (json_valid(spec)),  -- JSON of the whole JobSpec, defaults filled in when it was created
  created_by       TEXT    NOT NULL,             -- name of the principal
  created_ms       INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),  -- of the live run; a new run clears it
  state            TEXT    NOT NULL CHECK (state IN ('created', 'queued', 'leased', 'preparing', 'running', 'finalizing',
                                                     'succeeded', 'no_changes', 'failed', 'cancelled')),  -- mirrors the last run
  last_run         INTEGER NOT NULL DEFAULT 0,   -- number of the last run; 0 = none yet
  CHECK ((state = 'created') = (last_run = 0))
) STRICT;

CREATE TABLE runs (
  id                 TEXT    NOT NULL PRIMARY KEY,
  job_id             TEXT    NOT NULL REFERENCES jobs (id),
  number             INTEGER NOT NULL CHECK (number >= 1),  -- 1, 2, ... within the job
  state              TEXT    NOT NULL CHECK (state IN ('queued', 'leased', 'preparing', 'running', 'finalizing',
                                                       'succeeded', 'no_changes', 'failed', 'cancelled')),
  reason             TEXT,                         -- why it ended; null while it lives
  error              TEXT    NOT NULL DEFAULT '',  -- for people, when failed; redacted
  lease_generation   INTEGER NOT NULL DEFAULT 0,   -- fencing token: grows with each hand-out and each return to the queue
  lease_until_ms     INTEGER NOT NULL DEFAULT 0,   -- 0 = not handed out
  branch             TEXT    NOT NULL DEFAULT '',  -- forge/<first 10 of the job id>-<number>; '' until it is known
  base_ref           TEXT    NOT NULL DEFAULT '',  -- as resolved: a full ref name or a commit id; '' until then
  base_commit        TEXT    NOT NULL DEFAULT '',  -- 40 hex digits; '' until resolved
  head_commit        TEXT    NOT NULL DEFAULT '',  -- 40 hex digits; '' when nothing was committed
  pushed             INTEGER NOT NULL DEFAULT 0 CHECK (pushed IN (0, 1)),
  summary            TEXT    NOT NULL DEFAULT '',  -- the agent's last words; redacted
  diff_files         INTEGER NOT NULL DEFAULT 0,
  diff_insertions    INTEGER NOT NULL DEFAULT 0,   -- lines
  diff_deletions     INTEGER NOT NULL DEFAULT 0,   -- lines
  diff_blob          TEXT    NOT NULL DEFAULT '',  -- SHA-256 hex of the unified diff; '' = none
  input_tokens       INTEGER NOT NULL DEFAULT 0,   -- the four counts are disjoint, and the sums of this run's usage rows
  output_tokens      INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0,
  cost_nano_usd      INTEGER DEFAULT 0,            -- sum of this run's usage rows; null as soon as one of them is unpriced
  verify             TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(verify)),      -- JSON [{"command", "exit_code"}]
  findings           TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(findings)),    -- JSON [text], redacted
  unenforced         TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(unenforced)),  -- JSON [name of a limit]
  created_ms         INTEGER NOT NULL,
  started_ms         INTEGER NOT NULL DEFAULT 0,   -- 0 = not yet
  ended_ms           INTEGER NOT NULL DEFAULT 0,   -- 0 = not yet
  UNIQUE (job_id, number),
  CHECK ((reason IS NOT NULL) = (state IN ('succeeded', 'no_changes', 'failed', 'cancelled')))
) STRICT;

-- At most one run of a job lives.
CREATE UNIQUE INDEX runs_live ON runs (job_id) WHERE state IN ('queued', 'leased', 'preparing', 'running', 'finalizing');
-- The queue: oldest first.
CREATE INDEX runs_queued ON runs (id) WHERE state = 'queued';

-- Trace events that belong to a move of a run: stored in the transaction of the move. All others are in trace.db; the two share one
-- sequence per run.
CREATE TABLE state_events (
  run_id TEXT    NOT NULL REFERENCES runs (id),
  seq    INTEGER NOT NULL CHECK (seq >= 1),
  ts_ms  INTEGER NOT NULL,
  turn   INTEGER,                                  -- the agent's turn; null = none under way
  type   TEXT    NOT NULL CHECK (type IN ('state', 'terminal')),
  data   TEXT    NOT NULL CHECK (json_valid(data)),  -- JSON object, redacted
  PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

-- One row per answered model request.
CREATE TABLE usage (
  id                 INTEGER NOT NULL PRIMARY KEY,
  run_id             TEXT    NOT NULL REFERENCES runs (id),
  request_id         TEXT    NOT NULL,  -- the vendor's; '' when it sends none; not unique
  model              TEXT    NOT NULL,  -- provider/model
  input_tokens       INTEGER NOT NULL,
  output_tokens      INTEGER NOT NULL,
  cache_read_tokens  INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost_nano_usd      INTEGER,           -- null = unpriced
  price_hash         TEXT    NOT NULL,  -- of the price row used; '' when unpriced
  created_ms         INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_of_run ON usage (run_id);
CREATE INDEX usage_by_time ON usage (created_ms);

CREATE TABLE tokens (
  id           TEXT    NOT NULL PRIMARY KEY,
  name         TEXT    NOT NULL,
  role         TEXT    NOT NULL CHECK (role IN ('admin', 'operator', 'reviewer', 'viewer')),
  secret_hash  TEXT    NOT NULL UNIQUE,         -- SHA-256 hex; the secret itself is stored nowhere
  created_ms   INTEGER NOT NULL,
  last_used_ms INTEGER NOT NULL DEFAULT 0,      -- to the minute; 0 = never
  revoked      INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX tokens_live_name ON tokens (name) WHERE revoked = 0;

-- One-time sign-in links. A row is gone when its link was used.
CREATE TABLE sign_ins (
  secret_hash TEXT    NOT NULL PRIMARY KEY,     -- SHA-256 hex
  role        TEXT    NOT NULL CHECK (role IN ('admin', 'operator', 'reviewer', 'viewer')),
  expires_ms  INTEGER NOT NULL
) STRICT;

-- Signed-in browsers.
CREATE TABLE sessions (
  id           TEXT    NOT NULL PRIMARY KEY,    -- names it in lists; not the cookie
  secret_hash  TEXT    NOT NULL UNIQUE,         -- SHA-256 hex of the cookie
  principal    TEXT    NOT NULL,
  role         TEXT    NOT NULL CHECK (role IN ('admin', 'operator', 'reviewer', 'viewer')),
  token_id     TEXT    REFERENCES tokens (id),  -- that signed in; null for a sign-in link
  created_ms   INTEGER NOT NULL,
  last_used_ms INTEGER NOT NULL                 -- to the minute
) STRICT;
