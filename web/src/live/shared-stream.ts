// One event stream per browser. HTTP/1.1 gives a browser six connections to a server; a stream per tab would use them up. The tab that holds the
// lock reads the stream and tells the others; when it closes, the next one gets the lock and goes on after the last event that was seen.

/** One event of all jobs: the envelope of a trace event with its job. One of a review has a revision in place of seq, time and data. */
export type LiveEvent = { job: string; seq: number; ts_ms: number; run: number; turn?: number; type: string; data: Record<string, unknown>; revision?: number };

export type StreamState = 'connecting' | 'live' | 'lost';

export type Listener = {
  event?: (event: LiveEvent) => void;
  /** Events may have been missed: what was fetched has to be fetched again. */
  reset?: () => void;
  state?: (state: StreamState) => void;
};

type Message = { kind: 'event'; id: string; data: string } | { kind: 'reset' } | { kind: 'state'; state: StreamState } | { kind: 'ask' };

/** The parts of the browser that are used, so that tests can stand in for them. */
export type Source = {
  addEventListener: (type: string, listener: (event: { data?: string; lastEventId?: string }) => void) => void;
  close: () => void;
};
export type Channel = { postMessage: (message: unknown) => void; onmessage: ((event: { data: unknown }) => void) | null; close: () => void };
export type Ports = {
  open: (url: string) => Source;
  channel: () => Channel | undefined;
  /** Runs `body` once this tab leads, for as long as its promise is pending. */
  lead: (body: () => Promise<void>) => void;
  later: (then: () => void, delay_ms: number) => void;
};

const first_delay_ms = 500;
const longest_delay_ms = 15_000;

export class SharedStream {
  private readonly listeners = new Set<Listener>();
  private channel: Channel | undefined;
  private source: Source | undefined;
  private last_id = '';
  private delay_ms = first_delay_ms;
  private leads = false;
  private started = false;
  private stopped = false;
  private stop_leading: () => void = () => {};
  state: StreamState = 'connecting';

  constructor(
    private readonly url: string,
    private readonly ports: Ports,
  ) {}

  /** Nobody is asked for anything before this. Does nothing a second time, nor after stop(). */
  start(): void {
    if (this.started || this.stopped) return;
    this.started = true;
    this.channel = this.ports.channel();
    if (this.channel) {
      this.channel.onmessage = ({ data }) => this.hear(data as Message);
      this.channel.postMessage({ kind: 'ask' } satisfies Message);
    }
    this.ports.lead(async () => {
      if (this.stopped) return;
      this.leads = true;
      this.connect();
      await new Promise<void>((resolve) => (this.stop_leading = resolve));
    });
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  stop(): void {
    this.stopped = true;
    this.source?.close();
    this.stop_leading();
    this.channel?.close();
    this.listeners.clear();
  }

  private connect(): void {
    if (this.stopped) return;
    const source = this.ports.open(this.last_id ? `${this.url}?after=${this.last_id}` : this.url);
    this.source = source;
    source.addEventListener('open', () => {
      this.delay_ms = first_delay_ms;
      this.change('live');
    });
    source.addEventListener('message', ({ data, lastEventId }) => this.tell({ kind: 'event', id: lastEventId ?? '', data: data ?? '' }));
    source.addEventListener('reset', ({ lastEventId }) => {
      this.last_id = lastEventId ?? '';
      this.tell({ kind: 'reset' });
    });
    // The browser would try again by itself, but not after an answer such as 503, and not after its own choice of time.
    const again = () => {
      if (this.source !== source) return;
      source.close();
      this.source = undefined;
      this.change('lost');
      this.ports.later(() => this.connect(), this.delay_ms);
      this.delay_ms = Math.min(this.delay_ms * 2, longest_delay_ms);
    };
    source.addEventListener('shutdown', again);
    source.addEventListener('error', again);
  }

  private change(state: StreamState): void {
    // Without a position nothing says what happened meanwhile.
    const missed = state === 'live' && this.state === 'lost' && this.last_id === '';
    this.tell({ kind: 'state', state });
    if (missed) this.tell({ kind: 'reset' });
  }

  /** To the other tabs and to this one. */
  private tell(message: Message): void {
    this.channel?.postMessage(message);
    this.hear(message);
  }

  private hear(message: Message): void {
    if (message.kind === 'ask') {
      if (this.leads) this.channel?.postMessage({ kind: 'state', state: this.state } satisfies Message);
    } else if (message.kind === 'state') {
      this.state = message.state;
      for (const each of [...this.listeners]) each.state?.(message.state);
    } else if (message.kind === 'reset') {
      for (const each of [...this.listeners]) each.reset?.();
    } else {
      if (message.id) this.last_id = message.id;
      const event = JSON.parse(message.data) as LiveEvent;
      for (const each of [...this.listeners]) each.event?.(event);
    }
  }
}

/** The real browser. Without locks (plain HTTP on another host than this one) each tab leads itself and tells nobody. */
export function browserPorts(): Ports {
  const shared = 'locks' in navigator && 'BroadcastChannel' in window;
  return {
    open: (url) => new EventSource(url) as unknown as Source,
    channel: () => (shared ? (new BroadcastChannel('forge-events') as unknown as Channel) : undefined),
    lead: (body) => {
      if (shared) void navigator.locks.request('forge-events', body);
      else void body();
    },
    later: (then, delay_ms) => void window.setTimeout(then, delay_ms),
  };
}
