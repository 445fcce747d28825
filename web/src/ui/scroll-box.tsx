import type { ReactNode } from 'react';

/** A box whose content scrolls: the keyboard gets into it, and what reads the page aloud says what it is. */
export const ScrollBox = ({ label, className = 'scroll-x', children }: { label: string; className?: string; children: ReactNode }) => (
  <div className={className} tabIndex={0} role="region" aria-label={label}>
    {children}
  </div>
);
