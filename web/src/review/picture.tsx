import { useState } from 'react';
import type { ReviewFile } from '../api/types';
import { useDesk } from './desk';

export function fileAddress(job: string, run: number, side: 'base' | 'head', file: Pick<ReviewFile, 'path' | 'path_base64' | 'old_path' | 'old_path_base64'>): string {
  const [path, base64] = side === 'base' ? [file.old_path, file.old_path_base64] : [file.path, file.path_base64];
  const query = new URLSearchParams({ side, ...(base64 ? { path_base64: base64 } : { path }) });
  return `/api/v1/jobs/${job}/runs/${run}/file?${query}`;
}

function Side({ word, address, name }: { word: string; address: string; name: string }) {
  const [size, setSize] = useState('');
  return (
    <figure>
      <img src={address} alt={`${name}, ${word.toLowerCase()}`} onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setSize(`${naturalWidth} × ${naturalHeight}`)} />
      <figcaption>
        {word} <span className="soft">{size}</span>
      </figcaption>
    </figure>
  );
}

/** A picture before and after. */
export function Picture({ file }: { file: ReviewFile }) {
  const { job, run } = useDesk();
  return (
    <div className="pictures">
      {file.old_mode !== null && <Side word="Before" name={file.old_path} address={fileAddress(job.id, run.number, 'base', file)} />}
      {file.new_mode !== null && <Side word="After" name={file.path} address={fileAddress(job.id, run.number, 'head', file)} />}
    </div>
  );
}
