import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useScheme } from '../ui/theme';
import { money } from '../words/money';
import { duration } from '../words/time';
import type { Point } from './spending';

const height = 180;

/** Money over time, as steps; the budget is a line when it is near enough to be seen. */
export default function Chart({ points, budget_nano_usd }: { points: Point[]; budget_nano_usd: number | null }) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useScheme();
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const colour = (name: string) => getComputedStyle(element).getPropertyValue(name).trim();
    const most = points.at(-1)?.nano_usd ?? 0;
    const budget = budget_nano_usd !== null && budget_nano_usd < most * 3 ? budget_nano_usd : undefined;
    const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1 }, font: '11px system-ui, sans-serif' };
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false },
        scales: { x: { time: false }, y: { range: (_, __, top) => [0, Math.max(top, budget ?? 0) * 1.08 || 1] } },
        axes: [
          { ...axis, size: 28, values: (_, values) => values.map((at) => duration(at * 1000)) },
          { ...axis, size: 64, values: (_, values) => values.map((at) => money(at)) },
        ],
        series: [
          {},
          { stroke: colour('--accent'), width: 2, fill: colour('--accent-wash'), paths: uPlot.paths.stepped!({ align: 1 }), points: { show: points.length < 60, size: 5 } },
          ...(budget === undefined ? [] : [{ stroke: colour('--bad'), width: 1, dash: [4, 4], points: { show: false } }]),
        ],
      },
      [points.map((point) => point.at_s), points.map((point) => point.nano_usd), ...(budget === undefined ? [] : [points.map(() => budget)])],
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
    // The scheme brings other colours.
  }, [points, budget_nano_usd, scheme]);
  const last = points.at(-1);
  return <div className="chart" ref={box} role="img" aria-label={last ? `${money(last.nano_usd)} spent after ${duration(last.at_s * 1000)}` : 'Nothing is spent'} />;
}
