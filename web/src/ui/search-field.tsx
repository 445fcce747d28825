import { useRef } from 'react';

import { Icon } from './icons';
import { useKeys } from './keys';

type SearchProps = { page: string; word: string; label: string; placeholder: string; value: string; change: (value: string) => void };

/** A page's search: `/` goes there, Escape leaves. `page` and `word` are what the list of keys says about it. */
export function SearchField({ page, word, label, placeholder, value, change }: SearchProps) {
  const field = useRef<HTMLInputElement>(null);
  useKeys(page, [{ keys: '/', word, run: () => field.current?.select() }]);
  return (
    <label className="search">
      <Icon name="search" size={14} />
      <input
        ref={field}
        type="search"
        placeholder={placeholder}
        aria-label={label}
        value={value}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <kbd>/</kbd>
    </label>
  );
}
