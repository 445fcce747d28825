// Colours of terminal output. Everything else that a program may print to a terminal is left out: it moves a cursor that is not there.

export type Span = { text: string; style: string };

const escape = /\x1b\[([0-9;]*)m|\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\x00-\x08\x0b\x0c\x0e-\x1a\x7f]/g;
const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

type Look = { colour: string; bold: boolean; dim: boolean };

function apply(look: Look, codes: string): Look {
  const next = { ...look };
  const numbers = codes === '' ? [0] : codes.split(';').map(Number);
  for (let i = 0; i < numbers.length; ++i) {
    const code = numbers[i]!;
    if (code === 0) Object.assign(next, { colour: '', bold: false, dim: false });
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 22) Object.assign(next, { bold: false, dim: false });
    else if (code >= 30 && code <= 37) next.colour = names[code - 30]!;
    else if (code >= 90 && code <= 97) next.colour = names[code - 90]!;
    else if (code === 39) next.colour = '';
    else if (code === 38 || code === 48) i += numbers[i + 1] === 5 ? 2 : 4; // 256 colours and true colour: the palette has no place for them
  }
  return next;
}

const styleOf = (look: Look) => [look.colour && `ansi-${look.colour}`, look.bold && 'ansi-bold', look.dim && 'ansi-dim'].filter(Boolean).join(' ');

/** A line that was written over with a bare carriage return shows its last state, as a terminal would. */
const settle = (text: string) => text.replaceAll('\r\n', '\n').replace(/[^\n]*\r(?=[^\n])/g, '');

export function ansi(text: string): Span[] {
  const spans: Span[] = [];
  let look: Look = { colour: '', bold: false, dim: false };
  let at = 0;
  const whole = settle(text);
  const push = (piece: string) => {
    if (!piece) return;
    const style = styleOf(look);
    const last = spans.at(-1);
    if (last && last.style === style) last.text += piece;
    else spans.push({ text: piece, style });
  };
  for (const match of whole.matchAll(escape)) {
    push(whole.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[1] !== undefined) look = apply(look, match[1]);
  }
  push(whole.slice(at));
  return spans;
}
