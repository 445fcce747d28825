const paths = {
  plus: 'M8 3v10M3 8h10',
  check: 'M3.500 8.500l3 3 6-7',
  cross: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l3.500 3.500',
  right: 'M6 4l4 4-4 4',
  copy: 'M6 6V3h7v7h-3M3 6h7v7H3z',
  user: 'M8 3a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5zM3 13.500c.5-2.500 2.500-3.500 5-3.500s4.500 1 5 3.500',
  back: 'M10 3L5 8l5 5',
  more: 'M3.500 8h.01M8 8h.01M12.500 8h.01',
  warn: 'M8 3l6 10.500H2zM8 7v3M8 12h.01',
} as const;

export function Icon({ name, size = 16 }: { name: keyof typeof paths; size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} fill="none" stroke="currentColor" strokeWidth={name === 'more' ? 2.4 : 1.6} strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

export function Mark() {
  return (
    <svg className="mark" width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M8 11h13.500c1.800 0 3-.6 4-1.500-.2 3.600-2.600 6-6.500 6.300V18c0 1.300 1 2 2.500 2.600V23H10.500v-2.400C12 20 13 19.300 13 18v-2.400C10 15.200 8.300 13.600 8 11z" />
    </svg>
  );
}
