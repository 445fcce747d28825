-- Reviews: what people say about the hunks of a run's diff, and the runs that go on from an earlier one. Texts that people wrote are
-- redacted UTF-8; what comes from the repository (paths, quotes) is bytes as git has them.

ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'first' CHECK (kind IN ('first', 'retry', 'follow_up', 'fork'));
ALTER TABLE runs ADD COLUMN from_run INTEGER NOT NULL DEFAULT 0;  -- number of the run whose head tree it starts from; 0 = the job's base
ALTER TABLE runs ADD COLUMN note TEXT NOT NULL DEFAULT '';        -- what the person who asked for it said
ALTER TABLE runs ADD COLUMN brief TEXT NOT NULL DEFAULT '';       -- what the agent is told beside the task; '' = nothing
ALTER TABLE runs ADD COLUMN review TEXT NOT NULL DEFAULT 'none'
  CHECK (review IN ('none', 'waiting', 'changes_requested', 'applied', 'dismissed'));
ALTER TABLE runs ADD COLUMN request_key TEXT NOT NULL DEFAULT ''; -- idempotency key of the send-back that made it; '' = none
UPDATE runs SET kind = 'retry' WHERE number > 1;
UPDATE runs SET review = 'waiting' WHERE head_commit <> '' AND state IN ('succeeded', 'failed');
-- One key makes one run.
CREATE UNIQUE INDEX runs_by_request ON runs (job_id, request_key) WHERE request_key <> '';
-- What waits for a person, in the order of the list of jobs.
CREATE INDEX runs_waiting ON runs (job_id, number) WHERE review = 'waiting';

-- The review of a run; made when somebody first looks at it, with what is carried over from the review before.
CREATE TABLE reviews (
  run_id     TEXT    NOT NULL PRIMARY KEY REFERENCES runs (id),
  revision   INTEGER NOT NULL DEFAULT 1 CHECK (revision >= 1),  -- grows with every change that others can see
  summary    TEXT    NOT NULL DEFAULT '',                       -- the reviewers' words about the whole
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE review_marks (
  run_id   TEXT    NOT NULL REFERENCES reviews (run_id),
  hunk_id  TEXT    NOT NULL,                                    -- 32 hex digits
  verdict  TEXT    NOT NULL CHECK (verdict IN ('accept', 'reject')),
  reason   TEXT    NOT NULL DEFAULT '',
  by_name  TEXT    NOT NULL,                                    -- name of the principal
  at_ms    INTEGER NOT NULL,
  from_run INTEGER NOT NULL DEFAULT 0,                          -- number of the run whose review it was given in; 0 = this one
  stale    INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),  -- given to an earlier form of the hunk: does not count
  PRIMARY KEY (run_id, hunk_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE review_comments (
  id         TEXT    NOT NULL PRIMARY KEY,
  run_id     TEXT    NOT NULL REFERENCES reviews (run_id),
  author     TEXT    NOT NULL,                                  -- name of the principal
  path       BLOB    NOT NULL,
  side       TEXT    NOT NULL CHECK (side IN ('base', 'head')),
  start_line INTEGER NOT NULL CHECK (start_line >= 1),
  end_line   INTEGER NOT NULL CHECK (end_line >= start_line),
  quote      BLOB    NOT NULL,                                  -- the lines as they were; bytes, so that they can be found again
  body       TEXT    NOT NULL,
  suggestion TEXT,                                              -- lines to put in place; null = none
  accepted   INTEGER NOT NULL DEFAULT 0 CHECK (accepted IN (0, 1)),
  draft      INTEGER NOT NULL DEFAULT 0 CHECK (draft IN (0, 1)),
  stale      INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
  from_run   INTEGER NOT NULL DEFAULT 0,                        -- number of the run whose review it was written in; 0 = this one
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX review_comments_of_run ON review_comments (run_id, id);

CREATE TABLE review_viewed (
  run_id       TEXT NOT NULL REFERENCES reviews (run_id),
  principal    TEXT NOT NULL,
  path         BLOB NOT NULL,
  content_hash TEXT NOT NULL,                                   -- of the file as it was looked at
  PRIMARY KEY (run_id, principal, path)
) STRICT, WITHOUT ROWID;

-- Every apply, before its commit is made: what a dead process left pending is completed by the next start, to the same commit.
CREATE TABLE review_applies (
  id          INTEGER NOT NULL PRIMARY KEY,
  run_id      TEXT    NOT NULL REFERENCES reviews (run_id),
  request_key TEXT    NOT NULL DEFAULT '',                      -- idempotency key; '' = none; free again when it failed
  state       TEXT    NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
  plan        TEXT    NOT NULL CHECK (json_valid(plan)),        -- JSON {"hunks": [id], "suggestions": [{"comment",
                                                                -- "path", "start_line", "end_line", "text"}], "message", "push"};
                                                                -- path and text are the base64 of their bytes
  branch      TEXT    NOT NULL,
  accepted    INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,
  undecided   INTEGER NOT NULL,
  by_name     TEXT    NOT NULL,
  at_ms       INTEGER NOT NULL,                                 -- also the time of the commit
  commit_id   TEXT    NOT NULL DEFAULT '',                      -- 40 hex digits; '' until it is done
  pushed      INTEGER NOT NULL DEFAULT 0 CHECK (pushed IN (0, 1)),
  error       TEXT    NOT NULL DEFAULT ''                       -- for people, when failed
) STRICT;
CREATE INDEX review_applies_of_run ON review_applies (run_id, id);
CREATE UNIQUE INDEX review_applies_by_request ON review_applies (run_id, request_key) WHERE request_key <> '' AND state <> 'failed';
-- One at a time.
CREATE UNIQUE INDEX review_applies_pending ON review_applies (run_id) WHERE state = 'pending';
