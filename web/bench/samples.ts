/** Of the numbers of one side of a comparison; what could not be measured is no number. */
export function at(samples: number[], share: number): number {
  const sorted = samples.filter(Number.isFinite).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}
export const median = (samples: number[]): number => at(samples, 0.5);

export type Line = { what: string; unit: string; ours: number[]; bare?: number[]; goal?: { ratio: number } | { most: number } };

const shown = (value: number) => (Number.isFinite(value) ? value.toFixed(value < 100 ? 1 : 0) : '-');

/** One line of the table: medians, their ratio, and the goal. */
export function lineText({ what, unit, ours, bare, goal }: Line): string {
  const [mine, other] = [median(ours), bare ? median(bare) : NaN];
  const ratio = mine / other;
  const met = goal && ('ratio' in goal ? ratio <= goal.ratio : mine <= goal.most);
  const words = goal ? `${'ratio' in goal ? `${goal.ratio.toFixed(1)} x` : `${goal.most} ${unit}`}  ${Number.isNaN('ratio' in goal ? ratio : mine) ? 'not measured' : met ? 'met' : 'MISSED'}` : '';
  return `${what.padEnd(48)} ${shown(mine).padStart(8)} ${shown(other).padStart(8)} ${unit.padEnd(3)} ${(Number.isNaN(ratio) ? '-' : ratio.toFixed(2)).padStart(6)}   ${words}`.trimEnd();
}

export const head = `${'dashboard (median)'.padEnd(48)} ${'ours'.padStart(8)} ${'bare'.padStart(8)} ${''.padEnd(3)} ${'ratio'.padStart(6)}   goal`;
