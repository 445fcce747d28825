import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useScheme } from './theme';

export type Colour = (name: string) => string;

/** How the axes of all charts look. */
export const axisStyle = (colour: Colour) => ({
  stroke: colour('--soft'),
  grid: { stroke: colour('--line'), width: 1 },
  ticks: { stroke: colour('--line'), width: 1 },
  font: '11px system-ui, sans-serif',
});

type PlotProps = { label: string; data: uPlot.AlignedData; height: number; options: (colour: Colour) => Omit<uPlot.Options, 'width' | 'height'> };

/** A chart as wide as its place. `options` is called anew when it or the data is another, and for each scheme: it has other colours. */
export function Plot({ label, data, height, options }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useScheme();
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const colour = (name: string) => getComputedStyle(element).getPropertyValue(name).trim();
    const plot = new uPlot({ width: element.clientWidth, height, ...options(resolved(element, colour)) }, data, element);
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [data, height, options, scheme]);
  return <div className="chart" ref={box} role="img" aria-label={label} style={{ height }} />;
}

/** A canvas does not know light-dark(): the browser turns it into the colour of now. */
function resolved(element: HTMLElement, colour: Colour): Colour {
  return (name) => {
    const probe = document.createElement('i');
    probe.style.color = colour(name);
    element.append(probe);
    const now = getComputedStyle(probe).color;
    probe.remove();
    return now;
  };
}
