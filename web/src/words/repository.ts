/** The title without the marks of Markdown: a task may begin with a heading, and name things as code. */
export const shownTitle = (title: string | undefined): string => (title ?? '').replace(/^#+\s+/, '').replace(/(`+|\*\*)(\S|\S.*?\S)\1/g, '$2');

/** The last part of a repository's address: what people call it. */
export function repositoryName(address: string): string {
  const parts = address.replace(/\/+$/, '').replace(/\.git$/, '').split('/');
  return parts.at(-1) || address;
}
