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
  budget?: BudgetRequest;
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
  budget?: BudgetRequest;
};

/** What each run of the job may cost. Absent: of a new job the configuration's, of a new run what the job has. */
export type BudgetRequest = {
  /** Decimal dollars per run. */
  run_usd?: string | number;
  /** The same in nano-dollars; give one of the two. */
  run_nano_usd?: number;
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
  /** The run whose result this is against; only there when asked for. `base_commit` is then that run's commit. */
  since_run?: number;
  /** Ids of this run's hunks that the earlier run did not have. */
  changed_hunks?: string[];
  /** The reverse. */
  gone_hunks?: string[];
};

export type HunkVerdict = "accept" | "reject";

export type ReviewHunk = {
  /** Follows from the paths and lines of the hunk, not from where they stand. */
  hunk_id: string;
  path: string;
  /** Base64 of its bytes, when they are not UTF-8 and `path` has replacements. */
  path_base64?: string;
  /** text: lines of a file. file: what is taken or left as a whole: a mode, name, link or binary content, a file that came or went. */
  kind: "text" | "file";
  /** From 1; all four are 0 for `file`. */
  old_start: number;
  old_lines: number;
  new_start: number;
  new_lines: number;
  verdict: HunkVerdict | null;
  reason: string | null;
  /** Who said so. */
  by: string | null;
  at_ms: number | null;
  /** The earlier run in whose review it was said; null: this one. */
  from_run: number | null;
  /** A verdict was given to an earlier form of this hunk. It does not count. */
  stale: boolean;
  /** That verdict; only there when `stale`. */
  earlier?: {
    verdict: HunkVerdict;
    reason: string | null;
    by: string;
    at_ms: Time;
    run: number | null;
  };
};

export type ReviewFile = {
  path: string;
  /** Base64 of its bytes, when they are not UTF-8 and `path` has replacements. */
  path_base64?: string;
  /** Another one than `path` when renamed. */
  old_path: string;
  /** As path_base64. */
  old_path_base64?: string;
  change: "added" | "deleted" | "modified" | "renamed" | "retyped";
  /** As git writes it; null: there was no file. */
  old_mode: string | null;
  new_mode: string | null;
  binary: boolean;
  insertions: number;
  deletions: number;
  /** Changes when what one has looked at changes. */
  content_hash: string;
  /** By the one who asks, and unchanged since. */
  viewed: boolean;
};

export type ReviewComment = {
  id: Id;
  author: string;
  path: string;
  /** Base64 of its bytes, when they are not UTF-8 and `path` has replacements. */
  path_base64?: string;
  side: "base" | "head";
  start_line: number;
  end_line: number;
  /** These lines as they were. */
  quote: string;
  body: string;
  /** Lines to put in place of those. */
  suggestion: string | null;
  /** An apply puts the suggestion in place. */
  accepted: boolean;
  /** Seen by its author alone until it is sent. */
  draft: boolean;
  /** The lines are no longer there. */
  stale: boolean;
  /** The earlier run in whose review it was written; null: this one. */
  from_run: number | null;
  created_ms: Time;
  updated_ms: Time;
};

export type AppliedReview = {
  commit: string;
  branch: string;
  accepted: number;
  rejected: number;
  undecided: number;
  pushed: boolean;
  by: string;
  at_ms: Time;
};

export type Review = {
  job: Id;
  run: number;
  /** Grows with every change that others can see. */
  revision: number;
  status: ReviewStatus;
  /** The reviewers' words about the whole. */
  summary: string;
  /** Of hunks; stale ones are undecided, too. */
  counts: {
    accepted: number;
    rejected: number;
    undecided: number;
    stale: number;
  };
  files: ReviewFile[];
  /** Of all files, in the order of the diff. */
  hunks: ReviewHunk[];
  comments: ReviewComment[];
  applied: AppliedReview | null;
};

export type ReviewEdit = {
  summary?: string;
  verdicts?: ({
    hunk_id: string;
    /** null takes it back. */
    verdict: HunkVerdict | null;
    reason?: string;
  })[];
  suggestions?: {
    /** Id of the comment. */
    comment: string;
    accepted: boolean;
  }[];
  viewed?: {
    path?: string;
    /** In place of `path`. */
    path_base64?: string;
    viewed: boolean;
  }[];
  /** Those of the one who asks. */
  send_drafts?: boolean;
};

export type NewReviewComment = {
  path?: string;
  /** In place of `path`. */
  path_base64?: string;
  side?: "base" | "head";
  start_line: number;
  /** `start_line` when absent. */
  end_line?: number;
  /** Must be what stands there; filled in when absent. */
  quote?: string;
  /** May be empty beside a suggestion. */
  body?: string;
  /** Lines to put in place of those; head side only. */
  suggestion?: string | null;
  draft?: boolean;
};

export type ReviewCommentEdit = {
  body?: string;
  /** null takes it away. */
  suggestion?: string | null;
  /** false sends it. */
  draft?: false;
};

export type ApplyRequest = {
  revision: number;
  /** Subject and body; the run's own when absent. */
  message?: string;
  push?: boolean;
  /** Undecided hunks are left out; there being any must be confirmed. */
  confirm_undecided?: boolean;
};

export type SendBackRequest = {
  revision: number;
  /** Told to the agent beside the review. */
  note?: string;
};

export type SentBack = {
  run: Run;
};

export type DismissRequest = {
  revision: number;
};

export type ReviewEvent = {
  job: Id;
  type: "review";
  run: number;
  revision: number;
  status: ReviewStatus;
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

export type Adapter = {
  name: string;
  /** Taken by jobs that name none. */
  default: boolean;
  ready: boolean;
  /** Why it cannot be used now, with what to do. */
  problem: string | null;
};

export type AdapterList = {
  items: Adapter[];
  /** Always null: this list is never paged. */
  next_cursor: string | null;
};

export type KnownModel = {
  name: string;
  /** Taken by jobs that name none. */
  default: boolean;
  /** Nano-dollars per million tokens, without tiers for long requests; null when it is not known. */
  price: {
    input: number;
    output: number;
    cache_read: number;
    cache_write: number;
  } | null;
  /** Tokens. */
  context_window: number | null;
};

export type ModelList = {
  items: KnownModel[];
  /** Always null: this list is never paged. */
  next_cursor: string | null;
};

export type BranchList = {
  /** What a job without a base starts from; null when HEAD points at no branch. */
  default: string | null;
  items: string[];
  /** There are others that are not listed. */
  more: boolean;
};

export type SpendingRow = {
  /** UTC. */
  day: string;
  repository: string;
  model: string;
  requests: number;
  /** Of requests: those whose model had no price. They are in no sum of money. */
  unpriced_requests: number;
  usage: Usage;
  priced_nano_usd: number;
};

export type Spending = {
  from: string;
  to: string;
  items: SpendingRow[];
  /** Spent since midnight UTC, as far as requests had a price. */
  today_nano_usd: number;
  /** That all runs of a day share; null when there is none. */
  day_budget_nano_usd: number | null;
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
