// Starts main.ts with any Node.js that vite runs on; newer ones alone know TypeScript.
import { runnerImport } from 'vite';

await runnerImport(new URL('main.ts', import.meta.url).pathname, { configFile: false, logLevel: 'warn' });
// What a browser that hung left open keeps nobody waiting.
process.exit();
