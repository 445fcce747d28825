// Made from orchestrator/http/openapi.json by `npm run types`; not edited by hand.

/** UUIDv7 as 26 characters of Crockford base32; text order is time order. */
export type Id = string;

/** Unix time in milliseconds. */
export type Time = number;

/** Nano-dollars; null when the model has no known price. */
export type Cost = number | null;

export type State = "created" | "queued" | "leased" | "preparing" | "running" | "finalizing" | "succeeded" | "no_changes" | "failed" | "cancelled";

export type Reason = "completed" | "no_changes" | "max_turns" | "budget_exhausted" | "timeout" | "cancelled" | "stuck" | "refused" | "auth_error" | "api_error" | "context_overflow" | "agent_crash" | "protocol_error" | "setup_failed" | "verify_failed" | "sandbox_failed" | "git_failed" | "push_failed" | "changes_limit" | "no_output" | "output_limit" | "sandbox_lost" | "interrupted";

export type Role = "admin" | "operator" | "reviewer" | "viewer";

/** Tokens: four disjoint counts. */
export type Usage = {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
};

export type DiffStat = {
  files: number;
  insertions: number;
  deletions: number;
};

export type Limits = {
  /** Model turns. */
  max_turns: number;
  /** Seconds from the start of the run to its end. */
  time_limit_s: number;
  /** Seconds without any output of the agent. */
  stall_limit_s: number;
  /** Sum of all four token counts. */
  max_tokens: number;
  /** How often a failed verify command is given back to the agent. */
  verify_rounds: number;
};

export type LimitsRequest = {
  /** Model turns. */
  max_turns?: number;
  /** Seconds from the start of the run to its end. */
  time_limit_s?: number;
  /** Seconds without any output of the agent. */
  stall_limit_s?: number;
  /** Sum of all four token counts. */
  max_tokens?: number;
  /** How often a failed verify command is given back to the agent. */
  verify_rounds?: number;
};

export type JobRequest = {
  /** Path, file:// or http(s):// URL of a git repository, without credentials. */
  repository: string;
  /** Branch, tag or commit to start from; the remote's HEAD when absent. */
  base?: string;
  /** What the agent is to do, in words. */
  task: string;
  /** The first line of the task when absent. */
  title?: string;
  /** Agent engine: pi. */
  adapter?: string;
  /** provider/model, or scripted:FILE. */
  model?: string;
  /** What the sandbox contains; GET /api/v1/templates lists them. */
  template?: string;
  /** Who makes the sandbox: local. */
  driver?: string;
  /** Shell commands before the agent. */
  setup?: string[];
  /** Shell commands after the agent; a failure is given back to it. */
  verify?: string[];
  limits?: LimitsRequest;
  network?: {
    /** Hosts that setup and run may reach; *.example.com means all below example.com. */
    allow_hosts?: string[];
  };
  /** Push the run's branch to the repository. */
  push?: boolean;
  /** What a run may cost. No budget when absent. */
  budget?: {
    /** Decimal dollars per run. */
    run_usd?: string | number;
    /** The same in nano-dollars; give one of the two. */
    run_nano_usd?: number;
  };
  /** false leaves the job `created`, without a run. */
  start?: boolean;
};

export type Job = {
  /** Path, file:// or http(s):// URL of a git repository, without credentials. */
  repository: string;
  /** Branch, tag or commit to start from; the remote's HEAD when absent. */
  base: string | null;
  /** What the agent is to do, in words. */
  task: string;
  /** The first line of the task when absent. */
  title: string;
  /** Agent engine: pi. */
  adapter: string;
  /** provider/model, or scripted:FILE. */
  model: string;
  /** What the sandbox contains; GET /api/v1/templates lists them. */
  template: string;
  /** Who makes the sandbox: local. */
  driver: string;
  /** Shell commands before the agent. */
  setup: string[];
  /** Shell commands after the agent; a failure is given back to it. */
  verify: string[];
  limits: Limits;
  network: {
    /** Hosts that setup and run may reach; *.example.com means all below example.com. */
    allow_hosts: string[];
  };
  /** Push the run's branch to the repository. */
  push: boolean;
  id: Id;
  state: State;
  review: ReviewStatus;
  budget: {
    run_nano_usd: number | null;
  };
  /** Name of the token, or `local`. */
  created_by: string;
  created_ms: Time;
  cancel_requested: boolean;
  last_run: Run | null;
};

/** waiting: there is a diff and nobody has had the last word about it. */
export type ReviewStatus = "none" | "waiting" | "changes_requested" | "applied" | "dismissed";

export type Run = {
  id: Id;
  job: Id;
  /** 1, 2, ... within the job. */
  number: number;
  kind: "first" | "retry" | "follow_up" | "fork";
  /** The run whose result it starts from; null: the job's base. */
  from_run: number | null;
  /** What the person who asked for it said. */
  note: string;
  state: State;
  reason: Reason | null;
  /** For people, when the run failed. */
  error: string | null;
  branch: string | null;
  /** As resolved: refs/heads/main, or a commit id. */
  base_ref: string | null;
  base_commit: string | null;
  /** null when nothing was committed. */
  head_commit: string | null;
  pushed: boolean;
  /** The agent's own account. */
  summary: string;
  diff_stat: DiffStat;
  /** Blob id of the unified diff. */
  diff_blob: string | null;
  usage: Usage;
  cost_nano_usd: Cost;
  verify: {
    command: string;
    exit_code: number;
  }[];
  /** Odd things in the tree or the run, for people. */
  findings: string[];
  /** Limits that a degraded sandbox did not enforce. */
  unenforced: string[];
  review: ReviewStatus;
  created_ms: Time;
  started_ms: number | null;
  ended_ms: number | null;
};

export type JobList = {
  items: Job[];
  /** Pass as `cursor` for the next page; null at the end. */
  next_cursor: string | null;
};

export type RunList = {
  items: Run[];
  /** Always null: this list is never paged. */
  next_cursor: string | null;
};

export type RunRequest = {
  /** retry: from the job's base. follow_up: from the result of an earlier run, with its conversation where the adapter can. fork: the same with a fresh agent. */
  kind?: "retry" | "follow_up" | "fork";
  /** Of follow_up and fork; left out: the last run that left changes. */
  from_run?: number;
  /** Told to the agent of the new run. */
  note?: string;
};

export type CancelRequest = {
};

export type TraceEvent = {
  /** Counts from 1 within the run, without gaps. */
  seq: number;
  ts_ms: Time;
  run: number;
  /** The agent's turn, when one is under way. */
  turn?: number;
  type: "state" | "sandbox" | "git" | "setup" | "turn" | "model" | "text" | "thinking" | "tool_call" | "tool_result" | "retry" | "network" | "verify" | "finding" | "limit" | "budget" | "steer" | "permission" | "compaction" | "log" | "terminal";
  /** By type; a payload over 16 KiB stands there as {head, tail, bytes, blob}. */
  data: Record<string, unknown>;
};

export type TracePage = {
  items: TraceEvent[];
  /** Pass as `after` for the next page. */
  next_seq: number;
  /** The same as text; null when complete. */
  next_cursor: string | null;
  /** The run has ended and this page reaches its last event. */
  complete: boolean;
};

export type Diff = {
  job: Id;
  run: number;
  stat: DiffStat;
  base_commit: string | null;
  head_commit: string | null;
  /** Of the whole diff. */
  bytes: number;
  /** How many byte sequences were not UTF-8 and became U+FFFD in `text`. */
  replaced: number;
  /** Unified diff; null when it is larger than 4 MiB: take text/x-diff. */
  text: string | null;
};

export type RunCost = {
  usage: Usage;
  cost_nano_usd: Cost;
  /** What the agent itself says that it cost, for comparison */
  reported_cost_nano_usd: number | null;
  budget_nano_usd: number | null;
  models: {
    model: string;
    usage: Usage;
    cost_nano_usd: Cost;
    requests: number;
  }[];
};

export type Template = {
  name: string;
  kind: "host" | "tree" | "image";
  description: string;
  packages: string[];
  limits: {
    memory_bytes: number;
    pids: number;
    cpu_millis: number;
    upper_bytes: number;
    upper_inodes: number;
    open_files: number;
  };
};

export type TemplateList = {
  items: Template[];
  /** Always null: this list is never paged. */
  next_cursor: string | null;
};

export type SignIn = {
  /** forge_... */
  token: string;
};

export type Who = {
  principal: string;
  role: Role;
  /** Came over the unix socket. */
  local: boolean;
};

export type Session = {
  id: string;
  principal: string;
  role: Role;
  created_ms: Time;
  last_used_ms: Time;
};

export type SessionList = {
  items: Session[];
  /** Always null: this list is never paged. */
  next_cursor: string | null;
};

export type SignInLinkRequest = {
  role?: Role;
};

export type SignInLink = {
  /** /sign-in/..., to be opened once. */
  path: string;
  role: Role;
  expires_ms: Time;
};

export type Token = {
  id: string;
  name: string;
  role: Role;
  created_ms: Time;
  last_used_ms: number | null;
  revoked: boolean;
};

export type NewToken = Token & {
  /** Shown once; only its hash is stored. */
  secret: string;
};

export type TokenList = {
  items: Token[];
  /** Always null: this list is never paged. */
  next_cursor: string | null;
};

export type TokenRequest = {
  name: string;
  role: Role;
};

export type Status = {
  status: string;
  version?: string;
};

export type Error = {
  error: {
    code: "invalid_argument" | "unauthenticated" | "permission_denied" | "not_found" | "conflict" | "precondition_failed" | "limit_exceeded" | "unsupported" | "busy" | "unavailable" | "timed_out" | "cancelled" | "corrupt" | "budget_exhausted" | "context_overflow" | "sandbox_unavailable" | "sandbox_policy" | "sandbox_config" | "internal";
    message: string;
    /** Path of the part that is wrong: limits.max_turns. */
    field?: string;
    /** What would be right. */
    hint?: string;
  };
};
