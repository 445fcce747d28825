import { getFiletypeFromFileName } from '@pierre/diffs';
import { bundledLanguages } from './grammars';

/** What Pierre calls otherwise, or has a grammar of its own for, and what colours it here. */
const stand_ins: Record<string, keyof typeof bundledLanguages> = {
  sh: 'bash',
  shell: 'bash',
  shellscript: 'bash',
  zsh: 'bash',
  fish: 'bash',
  dockerfile: 'docker',
  makefile: 'make',
  jsx: 'tsx',
  json5: 'json',
  jsonc: 'json',
  jsonl: 'json',
  scss: 'css',
  less: 'css',
  mdx: 'markdown',
  'objective-c': 'c',
  vue: 'html',
  svelte: 'html',
};

/** The grammar for a file's name; `text` for what has none here. */
export function languageOf(path: string): string {
  const name = getFiletypeFromFileName(path.slice(path.lastIndexOf('/') + 1));
  if (Object.hasOwn(bundledLanguages, name)) return name;
  return stand_ins[name] ?? 'text';
}
