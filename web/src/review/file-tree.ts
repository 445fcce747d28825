import { nameOf } from './paths';

/** A row of the tree, of files by their keys (paths.ts). Folders that hold nothing but one folder are one row with it. */
export type TreeRow = { type: 'folder'; path: string; name: string; depth: number; open: boolean } | { type: 'file'; path: string; name: string; depth: number };

const lastOf = (name: string) => name.slice(name.lastIndexOf('/') + 1);

type Folder = Map<string, Folder | string>;

function grown(paths: string[]): Folder {
  const top: Folder = new Map();
  for (const path of paths) {
    let at = top;
    const names = nameOf(path).split('/');
    for (const name of names.slice(0, -1)) {
      let next = at.get(`${name}/`);
      if (!(next instanceof Map)) at.set(`${name}/`, (next = new Map()));
      at = next;
    }
    // Names may look the same and be two.
    at.set(at.has(names.at(-1)!) ? path : names.at(-1)!, path);
  }
  return top;
}

/** A folder that holds nothing but a folder, and that one. */
function joined(name: string, folder: Folder): [string, Folder] {
  const [only] = folder;
  return folder.size === 1 && only && only[1] instanceof Map ? joined(name + only[0], only[1]) : [name, folder];
}

/** The rows to show, in the order of the paths. */
export function treeRows(paths: string[], closed: ReadonlySet<string>, filter = ''): TreeRow[] {
  const wanted = filter.trim().toLowerCase();
  const rows: TreeRow[] = [];
  const visit = (folder: Folder, prefix: string, depth: number) => {
    for (const [first, entry] of folder) {
      if (typeof entry === 'string') {
        rows.push({ type: 'file', path: entry, name: lastOf(nameOf(entry)), depth });
        continue;
      }
      const [name, inner] = joined(first, entry);
      const path = prefix + name;
      // What is searched for is not hidden in a closed folder.
      const open = wanted !== '' || !closed.has(path);
      rows.push({ type: 'folder', path, name: name.slice(0, -1), depth, open });
      if (open) visit(inner, path, depth + 1);
    }
  };
  visit(grown(wanted ? paths.filter((path) => nameOf(path).toLowerCase().includes(wanted)) : paths), '', 0);
  return rows;
}
