import { describe, expect, test } from 'vitest';
import { SharedStream, type Channel, type Ports, type StreamState } from './shared-stream';

type Heard = { data?: string; lastEventId?: string };

/** A browser with tabs: one lock, one channel, streams that the test feeds, and timers that it lets go off. */
class Browser {
  opened: { url: string; tell: (type: string, event?: Heard) => void; closed: boolean }[] = [];
  private channels: Channel[] = [];
  private line: (() => Promise<void>)[] = [];
  private held = false;
  timers: (() => void)[] = [];

  ports(shared = true): Ports {
    return {
      open: (url) => {
        const listeners = new Map<string, ((event: Heard) => void)[]>();
        const stream = { url, closed: false, tell: (type: string, event: Heard = {}) => listeners.get(type)?.forEach((listener) => listener(event)) };
        this.opened.push(stream);
        return {
          addEventListener: (type, listener) => void listeners.set(type, [...(listeners.get(type) ?? []), listener]),
          close: () => void (stream.closed = true),
        };
      },
      channel: () => (shared ? this.channel() : undefined),
      lead: (body) => {
        if (!shared) return void body();
        this.line.push(body);
        this.next();
      },
      later: (then) => void this.timers.push(then),
    };
  }

  private channel(): Channel {
    const channel: Channel = {
      onmessage: null,
      postMessage: (message) => this.channels.filter((each) => each !== channel).forEach((each) => each.onmessage?.({ data: structuredClone(message) })),
      close: () => void (this.channels = this.channels.filter((each) => each !== channel)),
    };
    this.channels.push(channel);
    return channel;
  }

  private next(): void {
    const body = this.held ? undefined : this.line.shift();
    if (!body) return;
    this.held = true;
    void body().then(() => {
      this.held = false;
      this.next();
    });
  }

  get live() {
    return this.opened.filter((stream) => !stream.closed);
  }
}

const settled = () => new Promise((resolve) => setTimeout(resolve));
const event = (seq: number) => ({ lastEventId: String(seq), data: JSON.stringify({ job: 'j', seq, run: 1, ts_ms: 0, type: 'log', data: {} }) });

function tab(browser: Browser, shared = true) {
  const stream = new SharedStream('/events', browser.ports(shared));
  const heard: number[] = [];
  const states: StreamState[] = [];
  let resets = 0;
  stream.listen({ event: ({ seq }) => heard.push(seq), state: (state) => states.push(state), reset: () => ++resets });
  stream.start();
  return { stream, heard, states, resets: () => resets };
}

describe('tabs of one browser', () => {
  test('open one stream and all hear it', () => {
    const browser = new Browser();
    const [first, second] = [tab(browser), tab(browser)];
    browser.opened[0]!.tell('open');
    browser.opened[0]!.tell('message', event(7));
    expect(browser.opened.map((stream) => stream.url)).toEqual(['/events']);
    expect([first.heard, second.heard, first.states, second.states]).toEqual([[7], [7], ['live'], ['connecting', 'live']]);
  });

  test('go on after the last event when the tab that read the stream closes', async () => {
    const browser = new Browser();
    const [first, second] = [tab(browser), tab(browser)];
    browser.opened[0]!.tell('message', event(7));
    first.stream.stop();
    await settled();
    expect(browser.live.map((stream) => stream.url)).toEqual(['/events?after=7']);
    browser.live[0]!.tell('message', event(8));
    expect([first.heard, second.heard]).toEqual([[7], [7, 8]]);
  });

  test('tell a new one how it stands', () => {
    const browser = new Browser();
    tab(browser);
    browser.opened[0]!.tell('open');
    expect(tab(browser).stream.state).toBe('live');
  });

  test('do without each other where the browser has no locks', () => {
    const browser = new Browser();
    tab(browser, false);
    tab(browser, false);
    expect(browser.live.length).toBe(2);
  });
});

describe('a stream that breaks', () => {
  test('is opened again after the last event, and says how it stands', () => {
    const browser = new Browser();
    const one = tab(browser);
    browser.opened[0]!.tell('open');
    browser.opened[0]!.tell('message', event(3));
    browser.opened[0]!.tell('error');
    expect([browser.live.length, browser.timers.length]).toEqual([0, 1]);
    browser.timers.shift()!();
    browser.live[0]!.tell('open');
    expect(browser.live[0]!.url).toBe('/events?after=3');
    expect(one.states).toEqual(['live', 'lost', 'live']);
    expect(one.resets()).toBe(0);
  });

  test('has missed something when it had no position yet', () => {
    const browser = new Browser();
    const one = tab(browser);
    browser.opened[0]!.tell('open');
    browser.opened[0]!.tell('error');
    browser.timers.shift()!();
    browser.live[0]!.tell('open');
    expect(one.resets()).toBe(1);
  });

  test('is opened once, however often the browser says that it broke', () => {
    const browser = new Browser();
    tab(browser);
    browser.opened[0]!.tell('shutdown');
    browser.opened[0]!.tell('error');
    expect(browser.timers.length).toBe(1);
  });

  test('begins anew when the server no longer holds the position', () => {
    const browser = new Browser();
    const [first, second] = [tab(browser), tab(browser)];
    browser.opened[0]!.tell('reset', { lastEventId: '40', data: '' });
    expect([first.resets(), second.resets()]).toEqual([1, 1]);
    browser.opened[0]!.tell('error');
    browser.timers.shift()!();
    expect(browser.live[0]!.url).toBe('/events?after=40');
  });

  test('stays closed when nobody listens any more', () => {
    const browser = new Browser();
    const one = tab(browser);
    browser.opened[0]!.tell('error');
    one.stream.stop();
    browser.timers.shift()!();
    expect(browser.live.length).toBe(0);
  });
});
