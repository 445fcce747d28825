import { useCallback, useMemo } from 'react';
import uPlot from 'uplot';
import { axisStyle, Plot, type Colour } from '../ui/plot';
import { money } from '../words/money';
import { duration } from '../words/time';
import type { Point } from './spending';

/** Money over time, as steps; the budget is a line when it is near enough to be seen. */
export default function Chart({ points, budget_nano_usd }: { points: Point[]; budget_nano_usd: number | null }) {
  const last = points.at(-1);
  const most = last?.nano_usd ?? 0;
  const budget = budget_nano_usd !== null && budget_nano_usd < most * 3 ? budget_nano_usd : undefined;
  const data = useMemo<uPlot.AlignedData>(
    () => [points.map((point) => point.at_s), points.map((point) => point.nano_usd), ...(budget === undefined ? [] : [points.map(() => budget)])],
    [points, budget],
  );
  const options = useCallback(
    (colour: Colour) => ({
      legend: { show: false },
      cursor: { y: false },
      scales: { x: { time: false }, y: { range: (_: uPlot, __: number, top: number): [number, number] => [0, Math.max(top, budget ?? 0) * 1.08 || 1] } },
      axes: [
        { ...axisStyle(colour), size: 28, values: (_: uPlot, values: number[]) => values.map((at) => duration(at * 1000)) },
        { ...axisStyle(colour), size: 64, values: (_: uPlot, values: number[]) => values.map((at) => money(at)) },
      ],
      series: [
        {},
        { stroke: colour('--accent'), width: 2, fill: colour('--accent-wash'), paths: uPlot.paths.stepped!({ align: 1 }), points: { show: points.length < 60, size: 5 } },
        ...(budget === undefined ? [] : [{ stroke: colour('--bad'), width: 1, dash: [4, 4], points: { show: false } }]),
      ],
    }),
    [points, budget],
  );
  return <Plot height={180} data={data} options={options} label={last ? `${money(last.nano_usd)} spent after ${duration(last.at_s * 1000)}` : 'Nothing is spent'} />;
}
