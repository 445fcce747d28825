import { useState } from 'react';
import { Modal } from '../ui/dialog';
import { Markdown } from '../ui/markdown';
import { useDesk } from './desk';
import { tooLong } from './limits';
import { TooLong } from './too-long';

function Form({ onClose }: { onClose: () => void }) {
  const { review, change, drafts } = useDesk();
  const [text, setText] = useState(drafts.text('summary') || review.summary);
  const save = () => {
    change({ summary: text.trim() });
    drafts.keep('summary', '');
    onClose();
  };
  return (
    <form
      className="act"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        rows={6}
        aria-label="Words about the whole"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          drafts.keep('summary', event.target.value);
        }}
      />
      <TooLong text={text.trim()} limit="summary" />
      <div className="actions">
        <button type="button" onClick={onClose}>
          Back
        </button>
        <button className="primary" disabled={tooLong(text.trim(), 'summary') !== undefined}>
          Save
        </button>
      </div>
    </form>
  );
}

export function SummaryDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Modal open={open} onClose={onClose} title="Words about the whole" description="All reviewers see them, and the agent is told them when this is sent back.">
      <Form onClose={onClose} />
    </Modal>
  );
}

/** Above the diff, when there are any. */
export function SummaryText({ onChange }: { onChange: () => void }) {
  const { review, may } = useDesk();
  if (!review.summary) return null;
  return (
    <section className="review-summary" aria-label="Words about the whole">
      <Markdown text={review.summary} />
      {may.decide && (
        <button className="ghost small" onClick={onChange}>
          Change
        </button>
      )}
    </section>
  );
}
