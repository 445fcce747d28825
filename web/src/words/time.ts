/** A length of time: "340 ms", "4.2 s", "41 s", "3 m 20 s", "2 h 5 m". */
export function duration(ms: number): string {
  if (ms < 0) return '0 s';
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return s % 60 ? `${Math.floor(s / 60)} m ${s % 60} s` : `${s / 60} m`;
  const m = Math.round(s / 60);
  if (m < 48 * 60) return m % 60 ? `${Math.floor(m / 60)} h ${m % 60} m` : `${m / 60} h`;
  return `${Math.round(m / 60 / 24)} d`;
}

// Made once: to make one takes longer than to draw the row that it is for.
const dates = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' });
const moments = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** How long ago: "now", "3 min", "5 h", "2 d", then the date. */
export function ago(then_ms: number, now_ms: number): string {
  const s = Math.round((now_ms - then_ms) / 1000);
  if (s < 45) return 'now';
  if (s < 3570) return `${Math.max(1, Math.round(s / 60))} min`;
  if (s < 24 * 3600) return `${Math.round(s / 3600)} h`;
  if (s < 14 * 24 * 3600) return `${Math.round(s / 24 / 3600)} d`;
  return dates.format(then_ms);
}

/** A point in time in full, in the reader's zone. */
export const moment = (ms: number): string =>
  moments.format(ms);

/** Of the day only, with milliseconds: rows of a trace. */
export function clock(ms: number): string {
  const at = new Date(ms);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
