import { useEffect, useRef, useState } from 'react';
import { patch, post, remove } from '../api/client';
import type { NewReviewComment, ReviewComment } from '../api/types';
import { useNow } from '../live/live';
import { Ago } from '../ui/bits';
import { Markdown } from '../ui/markdown';
import { toastRefusal } from '../ui/toasts';
import { useDesk } from './desk';
import { anchorOf, type Place } from './drafts';
import { namedBy } from './paths';
import { visibleText } from './visible';
import { tooLong } from './limits';
import { TooLong } from './too-long';
import { linesWords } from './words';

function Suggested({ comment, editable }: { comment: ReviewComment; editable: boolean }) {
  const { change, may } = useDesk();
  if (comment.suggestion === null) return null;
  return (
    <div className="suggestion">
      <pre className="suggestion-old">{visibleText(comment.quote).text}</pre>
      <pre className="suggestion-new">{visibleText(comment.suggestion).text.replace(/\n$/, '') || 'Nothing: take these lines away'}</pre>
      {may.decide && editable && (
        <label className="check">
          <input type="checkbox" checked={comment.accepted} onChange={(event) => change({ suggestions: new Map([[comment.id, event.target.checked]]) })} />
          Take this suggestion when the review is applied
        </label>
      )}
      {!may.decide && comment.accepted && <span className="soft small-text">Taken when the review is applied</span>}
    </div>
  );
}

export function Comment({ id }: { id: string }) {
  const { review, me, path, again } = useDesk();
  const now = useNow(30_000);
  const [editing, setEditing] = useState(false);
  const [busy, setBusy] = useState(false);
  const comment = review.comments.find((each) => each.id === id);
  if (!comment) return null;
  const mine = comment.author === me;
  const act = async (what: string, body: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await body();
      await again();
    } catch (error) {
      toastRefusal(what, error);
    }
    setBusy(false);
  };
  return (
    <article className={`comment${comment.draft ? ' draft' : ''}`} aria-label={`Comment of ${comment.author}`}>
      <header>
        <b>{mine ? 'You' : comment.author}</b>
        <Ago ms={comment.created_ms} now={now} />
        <span className="soft">{linesWords(comment)}</span>
        {comment.draft && <span className="tag">draft, only you see it</span>}
        {comment.stale && <span className="tag tag-warn">these lines have changed</span>}
        {comment.from_run !== null && <span className="tag">run {comment.from_run}</span>}
        <span className="gap" />
        {mine && !editing && (
          <span className="comment-buttons">
            {comment.draft && (
              <button className="small" disabled={busy} onClick={() => void act('The comment was not sent', () => patch(`${path}/comments/${id}`, { draft: false }))}>
                Send
              </button>
            )}
            <button className="ghost small" disabled={busy} onClick={() => setEditing(true)}>
              Edit
            </button>
            <button className="ghost small" disabled={busy} onClick={() => void act('The comment was not deleted', () => remove(`${path}/comments/${id}`))}>
              Delete
            </button>
          </span>
        )}
      </header>
      {comment.stale && comment.suggestion === null && comment.quote && <pre className="quote">{visibleText(comment.quote).text}</pre>}
      {editing ? (
        <Writing
          place={`edit:${id}`}
          label="Your comment"
          first={comment.body}
          onCancel={() => setEditing(false)}
          actions={[{ word: 'Save', run: (body) => act('The comment was not changed', () => patch(`${path}/comments/${id}`, { body })).then(() => setEditing(false)) }]}
        />
      ) : (
        comment.body && <Markdown text={comment.body} />
      )}
      <Suggested comment={comment} editable={!comment.stale} />
    </article>
  );
}

type Action = { word: string; run: (body: string, suggestion: string | undefined) => Promise<void> };
type WritingProps = { place: Place; label: string; first?: string; lines?: string; onCancel: () => void; actions: Action[] };

/** A field whose text survives a reload. The last action is the one that Ctrl+Enter means. */
function Writing({ place, label, first = '', lines, onCancel, actions }: WritingProps) {
  const { drafts } = useDesk();
  const [body, setBody] = useState(drafts.text(place) || first);
  const kept_lines = drafts.text(`suggest:${place}`);
  const [suggestion, setSuggestion] = useState<string | undefined>(kept_lines || undefined);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const forget = () => {
    drafts.keep(place, '');
    drafts.keep(`suggest:${place}`, '');
  };
  const fits = !tooLong(body.trim(), 'comment') && !tooLong(`${suggestion ?? ''}\n`, 'comment');
  const ready = fits && (body.trim() !== '' || suggestion !== undefined);
  const run = async (action: Action | undefined) => {
    if (!ready || !action) return;
    setBusy(true);
    await action.run(body.trim(), suggestion);
    setBusy(false);
  };
  const suggest = (text: string | undefined) => {
    setSuggestion(text);
    drafts.keep(`suggest:${place}`, text ?? '');
  };
  return (
    <div
      className="writing"
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run(actions.at(-1));
        if (event.key === 'Escape' && !body.trim()) (forget(), onCancel());
      }}
    >
      <textarea
        ref={field}
        rows={3}
        aria-label={label}
        placeholder={label}
        value={body}
        onChange={(event) => {
          setBody(event.target.value);
          drafts.keep(place, event.target.value);
        }}
      />
      {suggestion !== undefined && (
        <textarea className="mono" rows={Math.min(8, suggestion.split('\n').length + 1)} aria-label="Lines in place of these" value={suggestion} onChange={(event) => suggest(event.target.value)} />
      )}
      <TooLong text={body.trim()} limit="comment" />
      <TooLong text={`${suggestion ?? ''}\n`} limit="comment" />
      <div className="actions">
        {lines !== undefined && (
          <button type="button" className="ghost small" aria-pressed={suggestion !== undefined} onClick={() => suggest(suggestion === undefined ? lines : undefined)}>
            Suggest other lines
          </button>
        )}
        <span className="gap" />
        <button type="button" className="small" disabled={busy} onClick={() => (forget(), onCancel())}>
          Cancel
        </button>
        {actions.map((action, i) => (
          <button key={action.word} type="button" className={i === actions.length - 1 ? 'small primary' : 'small'} disabled={busy || !ready} onClick={() => void run(action)}>
            {action.word}
          </button>
        ))}
      </div>
    </div>
  );
}

/** A comment that is being written on lines. */
export function NewComment({ place, lines }: { place: Place; lines?: string }) {
  const { path, close, again, drafts } = useDesk();
  const at = anchorOf(place);
  if (!at) return null;
  const send = (draft: boolean) => async (body: string, suggestion: string | undefined) => {
    const { path: key, ...rest } = at;
    const comment: NewReviewComment = { ...namedBy(key), ...rest, body, draft, ...(suggestion !== undefined && { suggestion: suggestion && !suggestion.endsWith('\n') ? `${suggestion}\n` : suggestion }) };
    try {
      await post(`${path}/comments`, comment);
      drafts.keep(place, '');
      drafts.keep(`suggest:${place}`, '');
      await again();
      close(place);
    } catch (error) {
      toastRefusal('The comment was not saved', error);
    }
  };
  return (
    <div className="comment new">
      <Writing
        place={place}
        label={`Comment on ${linesWords(at)}`}
        lines={at.side === 'head' ? lines : undefined}
        onCancel={() => close(place)}
        actions={[
          { word: 'Save as draft', run: send(true) },
          { word: 'Comment', run: send(false) },
        ]}
      />
    </div>
  );
}
