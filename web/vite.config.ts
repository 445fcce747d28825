import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

// The server that `npm run dev` shows: FORGE_URL=http://127.0.0.1:8700 by default.
const server = process.env.FORGE_URL ?? 'http://127.0.0.1:8700';

// What the diff view brings and the dashboard has no use for: four hundred grammars, themes, two other highlighters. Its worker gets grammars sent.
const unused = ['shiki/wasm', 'shiki/engine/oniguruma', '@pierre/theming/themes', '@pierre/highlights', '@pierre/highlights/themes/loader'];
const here = (path: string) => new URL(path, import.meta.url).pathname;

export const pruned = (grammars: 'grammars' | 'unused'): Plugin => ({
  name: 'pruned',
  enforce: 'pre',
  resolveId: (source) => (source === 'shiki/langs' ? here(`src/review/${grammars}.ts`) : unused.includes(source) ? here('src/review/unused.ts') : undefined),
});

export default defineConfig({
  plugins: [pruned('grammars'), react()],
  worker: { format: 'es', plugins: () => [pruned('unused')] },
  build: {
    target: 'es2022',
    // Inlined files would be data: addresses, which the policy of the page refuses for scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The sizes that count are those of web/scripts/build.mjs.
    chunkSizeWarningLimit: 1000,
    // How long plugins take says nothing on a busy machine.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: {
    // Origin and Host are checked: the server must see its own.
    proxy: Object.fromEntries(
      ['/api', '/sign-in/', '/openapi.json', '/healthz'].map((path) => [
        path,
        {
          target: server,
          changeOrigin: true,
          configure: (proxy: { on: (event: 'proxyReq', then: (request: { setHeader: (name: string, value: string) => void }) => void) => void }) =>
            proxy.on('proxyReq', (request) => request.setHeader('Origin', server)),
        },
      ]),
    ),
  },
  test: {
    projects: [
      { test: { name: 'units', include: ['src/**/*.test.ts'], environment: 'node' } },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.e2e.ts'],
          environment: 'node',
          // Against hanging only: a busy machine is many times slower than an idle one.
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
          // The files share what they import, which takes longer than most of the tests.
          isolate: false,
        },
      },
    ],
  },
});
