const nano = 1_000_000_000;

/** Nano-dollars as dollars: "$0.034", "$12.50"; four digits below a cent; "unknown price" is an en dash. */
export function money(nano_usd: number | null | undefined): string {
  if (nano_usd === null || nano_usd === undefined) return '–';
  const usd = nano_usd / nano;
  if (usd === 0) return '$0';
  if (usd < 0.0001) return '<$0.0001';
  const digits = usd >= 1 ? 2 : usd >= 0.1 ? 3 : 4;
  return `$${usd.toFixed(digits)}`;
}

/** Dollars for a field, without a sign or trailing noughts: 500000000 > "0.5". */
export const dollars = (nano_usd: number): string => String(nano_usd / nano);

/** Tokens: "842", "5.1k", "20.5M". */
export function tokens(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 999_950 ? [count / 1000, 'k'] : [count / 1_000_000, 'M'];
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** Bytes: "512 B", "16 KiB", "1.5 MiB". */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const [value, unit] = count < 1024 * 1023.95 ? [count / 1024, 'KiB'] : [count / 1024 / 1024, 'MiB'];
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${unit}`;
}

/** A whole number, in groups: "12,034". */
export const plain = (n: number): string => (n < 1000 ? String(n) : String(n).replace(/\B(?=(\d{3})+$)/g, ','));

/** "1 file", "2 files". */
export const count = (n: number, one: string, many = `${one}s`): string => `${plain(n)} ${n === 1 ? one : many}`;
