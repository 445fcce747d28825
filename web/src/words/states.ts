import type { Job, Reason, ReviewStatus, Run, State } from '../api/types';

export type Tone = 'quiet' | 'busy' | 'good' | 'warn' | 'bad';

const live: State[] = ['queued', 'leased', 'preparing', 'running', 'finalizing'];

export const isLive = (state: State): boolean => live.includes(state);
export const isEnded = (state: State): boolean => !isLive(state) && state !== 'created';

const words: Record<State, string> = {
  created: 'Not started',
  queued: 'Queued',
  leased: 'Starting',
  preparing: 'Preparing',
  running: 'Running',
  finalizing: 'Finishing',
  succeeded: 'Succeeded',
  no_changes: 'No changes',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

const tones: Record<State, Tone> = {
  created: 'quiet',
  queued: 'quiet',
  leased: 'busy',
  preparing: 'busy',
  running: 'busy',
  finalizing: 'busy',
  succeeded: 'good',
  no_changes: 'quiet',
  failed: 'bad',
  cancelled: 'quiet',
};

export const stateWord = (state: State): string => words[state] ?? state;
export const stateTone = (state: State): Tone => tones[state] ?? 'quiet';

const reviewWords: Record<ReviewStatus, string> = { none: '', waiting: 'To review', changes_requested: 'Sent back', applied: 'Applied', dismissed: 'Dismissed' };
const reviewTones: Record<ReviewStatus, Tone> = { none: 'quiet', waiting: 'warn', changes_requested: 'busy', applied: 'good', dismissed: 'quiet' };

/** Where the review of a run stands; nothing when there is nothing to review. */
export const reviewWord = (status: ReviewStatus): string => reviewWords[status] ?? status;
export const reviewTone = (status: ReviewStatus): Tone => reviewTones[status] ?? 'quiet';

const doing: Partial<Record<State, string>> = {
  created: 'Nobody has started it yet.',
  queued: 'Waits for a free place: the server runs a limited number of jobs at a time.',
  leased: 'A worker has taken it.',
  preparing: 'The repository is fetched, the sandbox is made, setup commands run.',
  running: 'The agent is at work.',
  finalizing: 'The result is committed and compared with the base.',
};

/** Why a run ended, as a sentence. */
const reasons: Record<Reason, string> = {
  completed: 'The agent finished and its changes were committed.',
  no_changes: 'The agent finished without changing anything.',
  max_turns: 'The agent used all the turns it was given.',
  budget_exhausted: 'The budget was reached before the agent finished.',
  timeout: 'The time limit was reached.',
  cancelled: 'Somebody cancelled it. What was done until then is kept.',
  stuck: 'The agent repeated itself without getting further.',
  refused: 'The model refused the task.',
  auth_error: 'The model provider did not accept the key.',
  api_error: 'The model could not be asked, or its provider kept failing.',
  context_overflow: 'The conversation no longer fits the model.',
  agent_crash: "The agent's program crashed.",
  protocol_error: "The agent's program said something Forge does not understand.",
  setup_failed: 'A setup command failed, so the agent never started.',
  verify_failed: 'The verify commands still failed after the last round.',
  sandbox_failed: 'The sandbox could not be made.',
  git_failed: 'Fetching or committing failed.',
  push_failed: 'The result is committed here, but pushing it to the repository failed.',
  changes_limit: 'The changes are larger than allowed.',
  no_output: 'Nothing came from the agent for too long.',
  output_limit: 'The agent printed more than allowed.',
  sandbox_lost: 'The sandbox disappeared while the agent was at work.',
  interrupted: 'The server stopped while this was running.',
};

export const reasonSentence = (reason: Reason): string => reasons[reason] ?? reason;

const shortReasons: Partial<Record<Reason, string>> = {
  budget_exhausted: 'budget reached',
  max_turns: 'out of turns',
  timeout: 'time limit',
  auth_error: 'key not accepted',
  api_error: 'model unavailable',
  no_output: 'no sign of life',
};

/** A few words beside a state: "verify failed". */
export const reasonWords = (reason: Reason): string => shortReasons[reason] ?? reason.replaceAll('_', ' ');

/** What is going on with a run, or why it ended. */
export function runSentence(run: Run): string {
  if (run.reason) return reasonSentence(run.reason);
  return doing[run.state] ?? '';
}

export type Group = 'needs' | 'running' | 'queued' | 'done';

export const groupWords: Record<Group, string> = { needs: 'Needs me', running: 'Running', queued: 'Queued', done: 'Done' };

/** Why a job needs somebody; nothing when it does not. `seen` = this browser has shown the run that failed. */
export function need(job: Job, seen: (run: Run) => boolean): { word: string; tone: Tone } | undefined {
  if (isLive(job.state)) return undefined;
  const run = job.last_run;
  if (job.review === 'waiting') return { word: 'Review', tone: 'warn' };
  if (job.state !== 'failed' || !run || seen(run)) return undefined;
  return run.reason === 'budget_exhausted' ? { word: 'Budget reached', tone: 'bad' } : { word: 'Failed', tone: 'bad' };
}

export function groupOf(job: Job, seen: (run: Run) => boolean): Group {
  if (need(job, seen)) return 'needs';
  if (job.state === 'queued' || job.state === 'created') return 'queued';
  return isLive(job.state) ? 'running' : 'done';
}
