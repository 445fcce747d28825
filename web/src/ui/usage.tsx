import type { Usage } from '../api/types';
import { tokens } from '../words/money';

/** The four counts of tokens as cells of a table, and their heads. */
export const UsageCells = ({ usage }: { usage: Usage }) => (
  <>
    <td className="right usage">{tokens(usage.input)}</td>
    <td className="right usage">{tokens(usage.cache_read)}</td>
    <td className="right usage">{tokens(usage.cache_write)}</td>
    <td className="right usage">{tokens(usage.output)}</td>
  </>
);
export const UsageHeads = () => (
  <>
    <th className="right usage">Input</th>
    <th className="right usage">From cache</th>
    <th className="right usage">To cache</th>
    <th className="right usage">Output</th>
  </>
);
