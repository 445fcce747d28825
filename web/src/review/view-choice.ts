/** How one likes to read diffs; kept by the browser. */
export type ViewChoice = { split: boolean; words: boolean; wrap: boolean };

const key = 'forge.review.view';
const first: ViewChoice = { split: false, words: true, wrap: true };

export function viewChoice(): ViewChoice {
  try {
    return { ...first, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<ViewChoice>) };
  } catch {
    return first;
  }
}

export function keepViewChoice(choice: ViewChoice): void {
  localStorage.setItem(key, JSON.stringify(choice));
}
