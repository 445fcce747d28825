// The anchor of the review: @pierre/diffs as it comes, with the same patch, and nothing around it.
import { parsePatchFiles } from '@pierre/diffs';
import { CodeView, WorkerPoolContextProvider } from '@pierre/diffs/react';
import HighlightWorker from '@pierre/diffs/worker/worker.js?worker';
import { createRoot } from 'react-dom/client';

const pool = { workerFactory: () => new HighlightWorker(), poolSize: 2 };
const answer = await fetch('/api/v1/jobs/01jdk3v9x2/runs/1/diff');
const { text } = (await answer.json()) as { text: string };
const items = parsePatchFiles(text)
  .flatMap((part) => part.files)
  .map((fileDiff) => ({ id: fileDiff.name, type: 'diff' as const, fileDiff }));

createRoot(document.getElementById('root')!).render(
  <WorkerPoolContextProvider poolOptions={pool} highlighterOptions={{}}>
    <CodeView className="code" items={items} options={{ diffStyle: 'unified' }} />
  </WorkerPoolContextProvider>,
);
