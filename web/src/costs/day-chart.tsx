import { useCallback, useMemo } from 'react';
import uPlot from 'uplot';
import { axisStyle, Plot, type Colour } from '../ui/plot';
import { money } from '../words/money';
import { monthDayUtc } from '../words/time';
import type { Sum } from './sums';

const monthDay = (seconds: number) => monthDayUtc(seconds * 1000);

/** A bar for each day; the budget of a day is a line when it is near enough to be seen. */
export default function DayChart({ days, budget_nano_usd }: { days: Sum[]; budget_nano_usd: number | null }) {
  const most = Math.max(0, ...days.map((day) => day.nano_usd));
  const budget = budget_nano_usd !== null && budget_nano_usd < most * 3 ? budget_nano_usd : undefined;
  const data = useMemo<uPlot.AlignedData>(
    () => [days.map((day) => Date.parse(day.name) / 1000), days.map((day) => day.nano_usd), ...(budget === undefined ? [] : [days.map(() => budget)])],
    [days, budget],
  );
  const options = useCallback(
    (colour: Colour) => ({
      legend: { show: false },
      padding: [null, 8, null, null] as uPlot.Padding,
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        // Half a day on both sides: the bars of the first and the last day are whole.
        x: { time: false, range: (_: uPlot, low: number, high: number): [number, number] => [low - 43_200, high + 43_200] },
        y: { range: (_: uPlot, __: number, top: number): [number, number] => [0, Math.max(top, budget ?? 0) * 1.08 || 1] },
      },
      axes: [
        { ...axisStyle(colour), size: 28, grid: { show: false }, incrs: [1, 2, 7, 14, 30, 60, 90].map((each) => each * 86_400), values: (_: uPlot, values: number[]) => values.map(monthDay) },
        { ...axisStyle(colour), size: 64, values: (_: uPlot, values: number[]) => values.map((at) => money(at)) },
      ],
      series: [
        {},
        { stroke: colour('--accent-solid'), fill: colour('--accent-solid'), width: 0, paths: uPlot.paths.bars!({ size: [0.72, 40] }), points: { show: false } },
        ...(budget === undefined ? [] : [{ stroke: colour('--bad'), width: 1, dash: [4, 4], points: { show: false } }]),
      ],
    }),
    [budget],
  );
  const dearest = days.reduce<Sum | undefined>((best, day) => (day.nano_usd > (best?.nano_usd ?? 0) ? day : best), undefined);
  return <Plot height={200} data={data} options={options} label={dearest ? `Spent by day; most on ${dearest.name}: ${money(dearest.nano_usd)}` : 'Nothing was spent'} />;
}
