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

const two = (n: number) => String(n).padStart(2, '0');
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Month and day, in UTC: "Jan 3". */
export function monthDayUtc(ms: number): string {
  const at = new Date(ms);
  return `${months[at.getUTCMonth()]} ${at.getUTCDate()}`;
}

// Not by Intl: its first formatter takes 30 to 60 ms to make, in the middle of a page's first picture.
function date(ms: number): string {
  const at = new Date(ms);
  return `${months[at.getMonth()]} ${at.getDate()}, ${at.getFullYear()}`;
}

/** How long ago: "now", "3 min", "5 h", "2 d", then the date. */
export function ago(then_ms: number, now_ms: number): string {
  const s = Math.round((now_ms - then_ms) / 1000);
  if (s < 45) return 'now';
  if (s < 3570) return `${Math.max(1, Math.round(s / 60))} min`;
  if (s < 24 * 3600) return `${Math.round(s / 3600)} h`;
  if (s < 14 * 24 * 3600) return `${Math.round(s / 24 / 3600)} d`;
  return date(then_ms);
}

/** Of the day only: rows of a trace. */
export function clock(ms: number): string {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** A point in time in full, in the reader's zone: "3 Jan 2026, 07:05:09". */
export function moment(ms: number): string {
  const at = new Date(ms);
  return `${at.getDate()} ${months[at.getMonth()]} ${at.getFullYear()}, ${clock(ms)}`;
}
