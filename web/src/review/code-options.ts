// How the diff view is set up, without what it does for a review: the bench shows a bare one set up the same way.
import { inner_css, theme } from './theme';
import type { ViewChoice } from './view-choice';

const line_height = 20;
export const head_height = 38;
/** Longer lines are shown without colours, which would take the browser seconds. */
const coloured_characters = 10_000;

export const pool_size = 2;
export const highlighter = { theme, tokenizeMaxLineLength: coloured_characters, lineDiffType: 'word-alt' as const };

export const shown = ({ split, wrap, words }: ViewChoice) => ({
  theme,
  unsafeCSS: inner_css,
  diffStyle: split ? ('split' as const) : ('unified' as const),
  overflow: wrap ? ('wrap' as const) : ('scroll' as const),
  lineDiffType: words ? ('word-alt' as const) : ('none' as const),
  diffIndicators: 'classic' as const,
  hunkSeparators: 'line-info-basic' as const,
  tokenizeMaxLineLength: coloured_characters,
  maxLineDiffLength: coloured_characters,
  stickyHeaders: true,
  itemMetrics: { lineHeight: line_height, diffHeaderHeight: head_height },
  layout: { paddingTop: 0, paddingBottom: 40, gap: 10 },
});
