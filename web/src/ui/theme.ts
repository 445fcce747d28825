import { useSyncExternalStore } from 'react';

export type Theme = 'auto' | 'light' | 'dark';

const key = 'forge.theme';
const listeners = new Set<() => void>();

export function theme(): Theme {
  const kept = localStorage.getItem(key);
  return kept === 'light' || kept === 'dark' ? kept : 'auto';
}

/** Light, dark, or as the system says. */
export function setTheme(next: Theme): void {
  if (next === 'auto') localStorage.removeItem(key);
  else localStorage.setItem(key, next);
  showTheme();
  for (const listener of [...listeners]) listener();
}

export function showTheme(): void {
  const now = theme();
  if (now === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = now;
}

/** What is shown now, for what draws by itself and cannot follow the style sheet. */
export function useScheme(): 'light' | 'dark' {
  return useSyncExternalStore(
    (changed) => {
      const system = window.matchMedia('(prefers-color-scheme: dark)');
      system.addEventListener('change', changed);
      listeners.add(changed);
      return () => {
        system.removeEventListener('change', changed);
        listeners.delete(changed);
      };
    },
    () => {
      const chosen = theme();
      if (chosen !== 'auto') return chosen;
      return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    },
  );
}
