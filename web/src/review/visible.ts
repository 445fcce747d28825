// What a reviewer would not see, or what would make the lines look otherwise than they are, is shown by a mark.

/** Characters without a picture of their own: controls but tab and line feed, marks of direction, joiners, separators, fillers, tags. */
const unseen =
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u
    .source;
/** A carriage return counts as the end of a line with the line feed after it only. */
const in_text = new RegExp(`${unseen}|\\r(?!\\n)`, 'gu');
/** In a patch a line feed follows always; that a file ends without one is said by the line after it. */
const in_patch = new RegExp(`${unseen}|\\r(?!\\n(?!\\\\ ))`, 'gu');
const in_name = new RegExp(`${unseen}|[\\t\\n\\r]`, 'gu');

export type Visible = {
  text: string;
  /** The marks in it, each once. */
  marks: string[];
};

const markOf = (character: string) => `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`;

function marked(text: string, pattern: RegExp): Visible {
  const marks = new Set<string>();
  const shown = text.replace(pattern, (character) => {
    const mark = markOf(character);
    marks.add(mark);
    return mark;
  });
  return { text: shown, marks: [...marks] };
}

/** The text of a file. It has as many lines as before. */
export const visibleText = (text: string): Visible => marked(text, in_text);
/** Hunks of a patch, as visibleText. */
export const visiblePatch = (patch: string): Visible => marked(patch, in_patch);
/** A name has one line. */
export const visibleName = (name: string): string => marked(name, in_name).text;
