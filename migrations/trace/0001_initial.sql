-- trace.db: the bulk of the traces. Its last commits may be missing after a power cut (never after the death of the process);
-- units and encodings are those of forge.db.

CREATE TABLE events (
  run_id TEXT    NOT NULL,           -- runs.id in forge.db
  seq    INTEGER NOT NULL CHECK (seq >= 1),  -- shared with state_events in forge.db
  ts_ms  INTEGER NOT NULL,
  turn   INTEGER,                    -- the agent's turn; null = none under way
  type   TEXT    NOT NULL,
  data   TEXT    NOT NULL,           -- JSON object, redacted; a long payload stands there as {"head", "tail", "bytes", "blob"}
  PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

-- Which run's trace names which blob: a reader gets only blobs of runs that it may see.
CREATE TABLE event_blobs (
  run_id TEXT NOT NULL,
  blob   TEXT NOT NULL,              -- SHA-256 hex
  PRIMARY KEY (run_id, blob)
) STRICT, WITHOUT ROWID;
