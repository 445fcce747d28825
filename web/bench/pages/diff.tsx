// The anchor of the review: @pierre/diffs set up as there, with the same patch and the same style sheets, and nothing around it.
import '../../src/styles/base.css';
import '../../src/styles/review.css';
import { parsePatchFiles } from '@pierre/diffs';
import { CodeView, WorkerPoolContextProvider } from '@pierre/diffs/react';
import HighlightWorker from '@pierre/diffs/worker/worker.js?worker';
import { createRoot } from 'react-dom/client';
import { highlighter, pool_size, shown } from '../../src/review/code-options';
import { viewChoice } from '../../src/review/view-choice';

const pool = { workerFactory: () => new HighlightWorker(), poolSize: pool_size };
const options = shown(viewChoice());
const answer = await fetch('/api/v1/jobs/01jdk3v9x2/runs/1/diff');
const { text } = (await answer.json()) as { text: string };
// With the key the workers keep what they coloured, as in the review.
const items = parsePatchFiles(text, { cacheKeyPrefix: 'bare' })
  .flatMap((part) => part.files)
  .map((fileDiff) => ({ id: fileDiff.name, type: 'diff' as const, fileDiff }));

createRoot(document.getElementById('root')!).render(
  <WorkerPoolContextProvider poolOptions={pool} highlighterOptions={highlighter}>
    <CodeView className="code" items={items} options={options} />
  </WorkerPoolContextProvider>,
);
