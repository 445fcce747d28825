import { get } from '../api/client';
import type { TraceEvent, TracePage } from '../api/types';
import { TreeBuilder, type Tree } from '../trace/tree';
import type { LiveEvent, SharedStream } from './shared-stream';

export const page_events = 1000;

export type TraceView = { tree: Tree; events: TraceEvent[]; loaded: boolean; complete: boolean; failure: unknown; version: number };

/** One run's trace: what is stored, then what the shared stream tells, without a gap. Told to listeners at most once per frame. */
export class RunTrace {
  private readonly builder = new TreeBuilder();
  private readonly events: TraceEvent[] = [];
  private readonly listeners = new Set<() => void>();
  private fetching = false;
  private again = false;
  private frame = 0;
  private view: TraceView = { tree: this.builder.tree, events: this.events, loaded: false, complete: false, failure: undefined, version: 0 };
  private stop_listening: () => void = () => {};

  constructor(
    private readonly job: string,
    private readonly run: number,
    private readonly stream: SharedStream | undefined,
  ) {}

  start(): void {
    this.stop_listening = this.stream?.listen({ event: (event) => this.happened(event), reset: () => void this.fetch() }) ?? (() => {});
    void this.fetch();
  }

  stop(): void {
    this.stop_listening();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  snapshot = (): TraceView => this.view;

  private happened(event: LiveEvent): void {
    if (event.job !== this.job || event.run !== this.run || event.type === 'review' || event.seq <= this.builder.tree.last_seq) return;
    if (this.fetching || !this.view.loaded || event.seq !== this.builder.tree.last_seq + 1) return void this.fetch();
    this.add([event as unknown as TraceEvent]);
    this.publish({ complete: event.type === 'terminal' });
  }

  /** Everything after what is there; a call during another one makes that one look once more. */
  private async fetch(): Promise<void> {
    if (this.fetching) return void (this.again = true);
    this.fetching = true;
    try {
      do {
        this.again = false;
        for (let more = true; more; ) {
          const path = `/api/v1/jobs/${this.job}/runs/${this.run}/trace?limit=${page_events}&after=${this.builder.tree.last_seq}`;
          const page = await get<TracePage>(path);
          this.add(page.items);
          more = page.items.length === page_events && !page.complete;
          this.publish({ loaded: !more, complete: page.complete, failure: undefined });
        }
      } while (this.again);
    } catch (failure) {
      this.publish({ failure, loaded: true });
    } finally {
      this.fetching = false;
    }
  }

  private add(events: TraceEvent[]): void {
    const last = this.builder.tree.last_seq;
    this.events.push(...events.filter((event) => event.seq > last));
    this.builder.add(events);
  }

  private publish(change: Partial<TraceView>): void {
    this.view = { ...this.view, ...change, version: this.view.version + 1 };
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      for (const listener of [...this.listeners]) listener();
    });
  }
}
