// Builds the dashboard: vite, then one file that the server embeds, dist/dashboard.pack.
// The pack is one line of JSON, {"files": [{path, type, immutable, bodies: [{coding, bytes}]}]}, and then all bodies in that order.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const kFirstLoadBytes = 200_000; // of gzip: the page, and every script and style that it names
const kDiffLoadBytes = 380_000; // of gzip: the same and what shows a diff, its worker and one grammar
const kAllBytes = 4_000_000; // of gzip: everything that is embedded

const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const root = new URL('..', import.meta.url);
const dist = new URL('dist/', root);

const { output } = await build({ root: root.pathname, logLevel: 'warn' });

const compressors = {
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
  gzip: (bytes) => gzipSync(bytes, { level: 9 }),
};

// Smallest first: the server sends the first that the browser takes. What does not shrink is sent as it is.
function bodiesOf(bytes) {
  const small = Object.entries(compressors)
    .map(([coding, compress]) => ({ coding, bytes: compress(bytes) }))
    .filter((body) => body.bytes.length < bytes.length);
  return [...small, { coding: 'identity', bytes }];
}

function readFiles() {
  return readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'dashboard.pack')
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(dist.pathname.length).replace(/^\/+/, ''))
    .sort()
    .map((path) => {
      const type = types[path.slice(path.lastIndexOf('.') + 1)];
      if (!type) throw new Error(`dist/${path}: no content type is known for this kind of file`);
      return { path, type, immutable: path.startsWith('assets/'), bodies: bodiesOf(readFileSync(new URL(path, dist))) };
    });
}

const gzipBytes = (file) => (file.bodies.find((body) => body.coding === 'gzip') ?? file.bodies[0]).bytes.length;

// What index.html names is fetched before anything shows; what only scripts import comes later.
function firstLoad(files) {
  const page = readFileSync(new URL('index.html', dist), 'utf8');
  return files.filter((file) => file.path === 'index.html' || page.includes(`/${file.path}"`));
}

// The chunk of the review, what it imports, and what the diff view fetches by itself to show Python.
function diffLoad(files, first) {
  const chunks = new Map(output.filter((part) => part.type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const wanted = new Set(first.map((file) => file.path));
  const want = (name) => {
    if (wanted.has(name)) return;
    wanted.add(name);
    const chunk = chunks.get(name);
    if (!chunk) return;
    [...chunk.imports, ...(chunk.viteMetadata?.importedCss ?? [])].forEach(want);
  };
  const made_of = (part) => [...chunks.values()].filter((chunk) => part.test(chunk.facadeModuleId ?? ''));
  const parts = [/review\/page\.tsx$/, /langs\/dist\/python\.mjs$/, /diffs\/dist\/highlighter\/backends\/shiki\.js$/, /engine-javascript\.mjs$/, /review\/grammars\.ts$/].flatMap(made_of);
  if (!parts.length) throw new Error('the chunk of the review is not there under its name');
  parts.forEach((chunk) => want(chunk.fileName));
  output.filter((part) => /worker/.test(part.fileName)).forEach((part) => want(part.fileName));
  return files.filter((file) => wanted.has(file.path));
}

const files = readFiles();
const sum = (list) => list.reduce((total, file) => total + gzipBytes(file), 0);
const first = sum(firstLoad(files));
const diff = sum(diffLoad(files, firstLoad(files)));
const all = sum(files);
const percent = (bytes, budget) => `${bytes} bytes of gzip (${Math.round((100 * bytes) / budget)} % of the budget)`;
console.log(`dashboard: first load ${percent(first, kFirstLoadBytes)}, with a diff ${percent(diff, kDiffLoadBytes)}, ${all} in all, ${files.length} files`);
if (first > kFirstLoadBytes) throw new Error(`the first load is ${first} bytes of gzip; the budget is ${kFirstLoadBytes}`);
if (diff > kDiffLoadBytes) throw new Error(`the first load with a diff is ${diff} bytes of gzip; the budget is ${kDiffLoadBytes}`);
if (all > kAllBytes) throw new Error(`the dashboard is ${all} bytes of gzip; the budget is ${kAllBytes}`);

const index = files.map(({ bodies, ...file }) => ({ ...file, bodies: bodies.map(({ coding, bytes }) => ({ coding, bytes: bytes.length })) }));
writeFileSync(
  new URL('dashboard.pack', dist),
  Buffer.concat([Buffer.from(`${JSON.stringify({ files: index })}\n`), ...files.flatMap((file) => file.bodies.map((body) => body.bytes))]),
);
