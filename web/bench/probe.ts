// Looks into a page from inside, without a hand in what it does: when it has painted something, and how long frames take.
import type { Page } from 'playwright-core';

/** Put into every page before its own scripts. */
function instrument(): void {
  const roots = (from: ParentNode): ParentNode[] => [from, ...[...from.querySelectorAll('*')].flatMap((each) => (each.shadowRoot ? roots(each.shadowRoot) : []))];
  const find = (selector: string) => roots(document).map((root) => root.querySelector(selector)).find(Boolean);
  /** What scrolls the lines: of the boxes around them the one with most to scroll. */
  const boxOf = (selector: string): Element | undefined => {
    let best: Element | undefined;
    for (let at: Element | null | undefined = find(selector); at; at = at.assignedSlot ?? at.parentElement ?? (at.getRootNode() as ShadowRoot).host)
      if (/auto|scroll/.test(getComputedStyle(at).overflowY) && at.scrollHeight - at.clientHeight > (best ? best.scrollHeight - best.clientHeight : 0)) best = at;
    return best;
  };
  const probe = {
    /** The time after the first frame in which `there` holds; no number when it never does. */
    painted: (there: () => boolean) =>
      new Promise<number>((done) => {
        const look = () => {
          if (!there()) return performance.now() > 60_000 ? done(NaN) : void requestAnimationFrame(look);
          // A message that is sent in a frame comes after its painting.
          const channel = new MessageChannel();
          channel.port1.onmessage = () => done(performance.now());
          channel.port2.postMessage(0);
        };
        requestAnimationFrame(look);
      }),
    lines: (selector: string) => probe.painted(() => find(selector) !== undefined),
    /** There is so much to scroll. */
    whole: (selector: string, height: number) => probe.painted(() => (boxOf(selector)?.scrollHeight ?? 0) >= height),
    /** The end of the first answer whose address matches. */
    answered: (address: string) => Math.min(...performance.getEntriesByType('resource').filter((each) => new RegExp(address).test(each.name)).map((each) => (each as PerformanceResourceTiming).responseEnd)),
    /** From a press on the first of these to the frame with one of those. */
    pressed: async (button: string, seen: string) => {
      const began = performance.now();
      document.querySelector<HTMLElement>(button)!.click();
      return (await probe.painted(() => document.querySelector(seen) !== null)) - began;
    },
    /** Lengths of frames, until `end` resolves. */
    frames: async (end: Promise<unknown>) => {
      let going = true;
      void end.finally(() => (going = false));
      const lengths: number[] = [];
      let last = await new Promise<number>(requestAnimationFrame);
      while (going) {
        const now = await new Promise<number>(requestAnimationFrame);
        lengths.push(now - last);
        last = now;
      }
      await end;
      return lengths;
    },
    /** Lengths of frames while the lines are scrolled by `step` in each of `count` frames. */
    scroll: async (selector: string, step: number, count: number) => {
      const box = boxOf(selector)!;
      const moved = (async () => {
        for (let i = 0; i < count; ++i) {
          box.scrollTop += step;
          await new Promise(requestAnimationFrame);
        }
      })();
      return probe.frames(moved);
    },
  };
  (window as unknown as { probe: typeof probe }).probe = probe;
}

type Inside = {
  pressed: (button: string, seen: string) => Promise<number>;
  lines: (selector: string) => Promise<number>;
  whole: (selector: string, height: number) => Promise<number>;
  answered: (address: string) => number;
  frames: (end: Promise<unknown>) => Promise<number[]>;
  scroll: (selector: string, step: number, count: number) => Promise<number[]>;
};

const inside = `(() => { ${instrument.toString()}; instrument(); })()`;
export const addProbe = (page: Page): Promise<unknown> => page.addInitScript(inside);

/** `lines` is a selector, also of what is inside of shadow trees; `height` what all of them take at least. */
type Looked = { lines: string; answer: string; height: number };
export type Painted = { first_ms: number; whole_ms: number };

/** From the end of the first answer to the first lines, and to all of them. */
export const paints = (page: Page, looked: Looked): Promise<Painted> =>
  page.evaluate(
    async ({ lines, answer, height }) => {
      const { probe } = window as unknown as { probe: Inside };
      const [first, whole] = await Promise.all([probe.lines(lines), probe.whole(lines, height)]);
      const from = probe.answered(answer);
      return { first_ms: first - from, whole_ms: whole - from };
    },
    looked,
  );

export const scrollFrames = (page: Page, lines: string, step: number, count: number): Promise<number[]> =>
  page.evaluate(({ selector, by, times }) => (window as unknown as { probe: Inside }).probe.scroll(selector, by, times), { selector: lines, by: step, times: count });

/** From a press on the first `button` until there is one of `seen`, painted. */
export const pressed = (page: Page, button: string, seen: string): Promise<number> =>
  page.evaluate(([what, then]) => (window as unknown as { probe: Inside }).probe.pressed(what, then), [button, seen] as const);

/** Lengths of frames until `end`, which the page is told by a variable. */
export async function framesUntil(page: Page, end: Promise<unknown>): Promise<number[]> {
  const lengths = page.evaluate(() => {
    const { probe } = window as unknown as { probe: Inside };
    return probe.frames(new Promise<void>((done) => ((window as unknown as { enough: () => void }).enough = done)));
  });
  await end;
  await page.evaluate(() => (window as unknown as { enough: () => void }).enough());
  return lengths;
}

/** Of JavaScript, after what nobody holds is gone. In MiB. */
export async function heap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1024 / 1024;
}
