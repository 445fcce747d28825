/** The title without the marks of a heading: a task may begin with one. */
export const shownTitle = (title: string | undefined): string => (title ?? '').replace(/^#+\s+/, '');

/** The last part of a repository's address: what people call it. */
export function repositoryName(address: string): string {
  const parts = address.replace(/\/+$/, '').replace(/\.git$/, '').split('/');
  return parts.at(-1) || address;
}
