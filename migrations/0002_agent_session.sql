-- What a run keeps of its agent beside its work: the conversation, so that a later run can go on with it, and the agent's own account of
-- what it cost. The sums of the usage rows are what counts.
ALTER TABLE runs ADD COLUMN agent_session TEXT NOT NULL DEFAULT '';       -- the agent's own id of the conversation; '' = none was kept
ALTER TABLE runs ADD COLUMN agent_session_blob TEXT NOT NULL DEFAULT '';  -- SHA-256 hex of the conversation in the agent's own format; '' = none
ALTER TABLE runs ADD COLUMN reported_cost_nano_usd INTEGER;               -- as the agent says it; null = it says nothing
