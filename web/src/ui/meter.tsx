/** How much of a budget is spent; it warns from four fifths on. Nothing without a budget. */
export function Meter({ spent, budget, label }: { spent: number; budget: number | null; label: string }) {
  if (!budget) return null;
  const part = Math.min(1, spent / budget);
  const near = part >= 1 ? ' full' : part > 0.8 ? ' near' : '';
  return (
    <div className={`meter${near}`} role="meter" aria-label={label} aria-valuenow={Math.round(part * 100)} aria-valuemin={0} aria-valuemax={100}>
      <i style={{ width: `${part * 100}%` }} />
    </div>
  );
}

/** The last column of a table of costs: each row's share of the dearest. */
export const ShareHead = () => <th className="bar-cell" aria-label="Share" />;
export const ShareCell = ({ part }: { part: number }) => (
  <td className="bar-cell">
    <i style={{ width: `${100 * part}%` }} />
  </td>
);
