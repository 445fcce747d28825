import { registerCustomCSSVariableTheme } from '@pierre/diffs';

/** Tokens take their colours from custom properties (styles/review.css), so that they follow the palette, light and dark. */
export const theme = 'forge';

registerCustomCSSVariableTheme(theme, {}, false);

/** Inside the shadow roots of the diff view, where the style sheets of the page do not reach. */
export const inner_css = `
  :host { color-scheme: inherit; }
  [data-line][data-line-type='change-addition'], [data-no-newline][data-line-type='change-addition'] { --diffs-computed-diff-line-bg: var(--added); }
  [data-line][data-line-type='change-deletion'], [data-no-newline][data-line-type='change-deletion'] { --diffs-computed-diff-line-bg: var(--removed); }
  [data-gutter-buffer][data-line-type='change-addition'], [data-column-number][data-line-type='change-addition'] { --diffs-computed-diff-line-bg: var(--added-number); color: var(--good); }
  [data-gutter-buffer][data-line-type='change-deletion'], [data-column-number][data-line-type='change-deletion'] { --diffs-computed-diff-line-bg: var(--removed-number); color: var(--bad); }
  [data-column-number] { font-size: 11.5px; }
  [data-no-newline] span { opacity: 1; color: var(--soft); }
  [data-separator-content], [data-expand-button] { font-size: 12px; }
`;
