/** How a patch of one file changes the ends of lines: "LF → CRLF". Nothing when the changed lines end alike before and after; lines do not show it. */
export function lineEnds(patch: string): string | undefined {
  const ends = { '-': new Set<string>(), '+': new Set<string>() };
  for (let at = patch.indexOf('\n@@') + 1; at > 0 && at < patch.length; ) {
    const end = patch.indexOf('\n', at);
    if (end < 0) break;
    const side = patch[at];
    // That the last line has no end is said by the line after it.
    if ((side === '-' || side === '+') && patch[end + 1] !== '\\') ends[side].add(patch[end - 1] === '\r' ? 'CRLF' : 'LF');
    at = end + 1;
  }
  const words = (side: '-' | '+') => [...ends[side]].sort().join(' and ');
  return ends['-'].size && ends['+'].size && words('-') !== words('+') ? `${words('-')} → ${words('+')}` : undefined;
}
