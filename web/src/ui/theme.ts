export type Theme = 'auto' | 'light' | 'dark';

const key = 'forge.theme';

export function theme(): Theme {
  const kept = localStorage.getItem(key);
  return kept === 'light' || kept === 'dark' ? kept : 'auto';
}

/** Light, dark, or as the system says. */
export function setTheme(next: Theme): void {
  if (next === 'auto') localStorage.removeItem(key);
  else localStorage.setItem(key, next);
  showTheme();
}

export function showTheme(): void {
  const now = theme();
  if (now === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = now;
}
