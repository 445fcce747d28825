import type { Usage } from '../api/types';
import { tokens } from '../words/money';

/** The four counts of tokens as cells of a table, and their heads. */
export const UsageCells = ({ usage }: { usage: Usage }) => (
  <>
    <td className="right">{tokens(usage.input)}</td>
    <td className="right">{tokens(usage.cache_read)}</td>
    <td className="right">{tokens(usage.cache_write)}</td>
    <td className="right">{tokens(usage.output)}</td>
  </>
);
export const UsageHeads = () => (
  <>
    <th className="right">Input</th>
    <th className="right">From cache</th>
    <th className="right">To cache</th>
    <th className="right">Output</th>
  </>
);
