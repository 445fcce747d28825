import { useMemo, useState, type ReactNode } from 'react';
import { getText } from '../api/client';
import type { TraceEvent } from '../api/types';
import { Copy } from '../ui/bits';
import { Icon } from '../ui/icons';
import { Markdown } from '../ui/markdown';
import { toastRefusal } from '../ui/toasts';
import { bytes, money, tokens } from '../words/money';
import { reasonSentence, stateWord } from '../words/states';
import { clock, duration } from '../words/time';
import { ansi } from './ansi';
import { number, payload, shownText, text, texts, type Payload } from './event';
import { decisionWord, type Step, type Tree } from './tree';

/** More is not drawn in one piece. */
const shown_characters = 512 * 1024;

function Terminal({ value }: { value: string }) {
  const spans = useMemo(() => ansi(value.slice(0, shown_characters)), [value]);
  return (
    <pre className="terminal" tabIndex={0}>
      {spans.map((span, i) => (span.style ? <span key={i} className={span.style}>{span.text}</span> : span.text))}
      {value.length > shown_characters && <em>{`\n… the rest of ${bytes(value.length)} is in the file`}</em>}
    </pre>
  );
}

/** A payload, whole or cut; what is cut can be fetched. */
function Text({ value, job, run, as = 'terminal' }: { value: Payload; job: string; run: number; as?: 'terminal' | 'markdown' }) {
  const [whole, setWhole] = useState<string>();
  const [busy, setBusy] = useState(false);
  const address = `/api/v1/jobs/${job}/runs/${run}/blobs/${value.blob}`;
  const fetchWhole = async () => {
    setBusy(true);
    try {
      setWhole(await getText(address, '*/*'));
    } catch (error) {
      toastRefusal('The whole text could not be read', error);
    }
    setBusy(false);
  };
  const complete = whole ?? value.text;
  if (complete !== undefined) return as === 'markdown' ? <Markdown text={complete} /> : <Terminal value={complete} />;
  const left = (value.bytes ?? 0) - new Blob([value.head ?? '', value.tail ?? '']).size;
  return (
    <div className="cut">
      <Terminal value={value.head ?? ''} />
      <div className="cut-mark">
        <span>{bytes(Math.max(0, left))} left out</span>
        <button className="small" onClick={() => void fetchWhole()} disabled={busy}>
          {busy ? 'Reading…' : `Show all ${bytes(value.bytes ?? 0)}`}
        </button>
        <a href={address} download={`${run}-${value.blob?.slice(0, 8)}.txt`}>
          Download
        </a>
      </div>
      <Terminal value={value.tail ?? ''} />
    </div>
  );
}

const Block = ({ title, extra, children }: { title: string; extra?: ReactNode; children: ReactNode }) => (
  <section className="block">
    <h3>
      {title}
      {extra}
    </h3>
    {children}
  </section>
);

type Edit = { old_text?: string; new_text?: string; old_string?: string; new_string?: string };

/** An edit as what it takes away and what it puts there. */
function EditView({ edit }: { edit: Edit }) {
  const lines = (value: string | undefined, sign: string) => (value ? value.split('\n').map((line) => `${sign} ${line}`).join('\n') : '');
  return (
    <pre className="edit" tabIndex={0}>
      <span className="removed">{lines(edit.old_text ?? edit.old_string, '−')}</span>
      {'\n'}
      <span className="added">{lines(edit.new_text ?? edit.new_string, '+')}</span>
    </pre>
  );
}

function Arguments({ event, job, run }: { event: TraceEvent; job: string; run: number }) {
  const value = payload(event, 'arguments');
  if (!value) return null;
  let parsed: Record<string, unknown> | undefined;
  try {
    parsed = value.text === undefined ? undefined : (JSON.parse(value.text) as Record<string, unknown>);
  } catch {
    // The model wrote something that is no JSON: it is shown as it came.
  }
  if (typeof parsed !== 'object' || parsed === null) return <Text value={value} job={job} run={run} />;
  const edits = Array.isArray(parsed['edits']) ? (parsed['edits'] as Edit[]) : typeof parsed['old_string'] === 'string' ? [parsed as Edit] : [];
  const rest = Object.entries(parsed).filter(([key]) => !(edits.length && ['edits', 'old_string', 'new_string'].includes(key)));
  return (
    <>
      <dl className="arguments">
        {rest.map(([key, argument]) => (
          <div key={key} className={typeof argument === 'string' && (argument.includes('\n') || argument.length > 60) ? 'long' : ''}>
            <dt>{key}</dt>
            <dd>
              {key === 'command' ? <CommandText text={String(argument)} /> : <pre tabIndex={0}>{typeof argument === 'string' ? argument : JSON.stringify(argument, null, 1)}</pre>}
            </dd>
          </div>
        ))}
      </dl>
      {edits.map((edit, i) => (
        <EditView key={i} edit={edit} />
      ))}
    </>
  );
}

const CommandText = ({ text: command }: { text: string }) => (
  <div className="command">
    <code>{command}</code>
    <Copy text={command} label="Copy the command" />
  </div>
);

function Tool({ step, job, run }: { step: Step; job: string; run: number }) {
  const call = step.events.find((event) => event.type === 'tool_call');
  const result = step.events.find((event) => event.type === 'tool_result');
  const output = result && payload(result, 'output');
  return (
    <>
      {call && (
        <Block title="Arguments">
          <Arguments event={call} job={job} run={run} />
        </Block>
      )}
      {result ? (
        <Block
          title="Output"
          extra={
            <span className="soft">
              {bytes(number(result, 'bytes') ?? 0)}
              {result.data['truncated'] === true && ', cut before the model saw it'}
            </span>
          }
        >
          {output ? <Text value={output} job={job} run={run} /> : <p className="soft">It printed nothing.</p>}
        </Block>
      ) : (
        <p className="soft">There is no result yet.</p>
      )}
    </>
  );
}

function Model({ event, job, run }: { event: TraceEvent; job: string; run: number }) {
  const usage = (event.data['usage'] ?? {}) as Record<string, number>;
  const words: Record<string, string> = { input: 'Input', cache_read: 'From cache', cache_write: 'To cache', output: 'Output' };
  return (
    <>
      <Block title="Tokens" extra={event.data['usage_estimated'] === true && <span className="soft">partly estimated</span>}>
        <dl className="pairs">
          {Object.entries(words).map(([key, word]) => (
            <div key={key}>
              <dt>{word}</dt>
              <dd>{tokens(usage[key] ?? 0)}</dd>
            </div>
          ))}
        </dl>
      </Block>
      {(['request', 'response'] as const).map((key) => {
        const value = payload(event, key);
        return (
          value && (
            <Block key={key} title={key === 'request' ? 'Request' : 'Response'}>
              <Text value={value} job={job} run={run} />
            </Block>
          )
        );
      })}
    </>
  );
}

function Network({ event }: { event: TraceEvent }) {
  const decision = text(event, 'decision');
  return (
    <Block title={decision === 'allowed' ? 'Reached' : decisionWord(decision)}>
      <p>
        <code>
          {text(event, 'host')}:{number(event, 'port')}
        </code>
        {(number(event, 'bytes') ?? 0) > 0 && <span className="soft"> {bytes(number(event, 'bytes') ?? 0)}</span>}
      </p>
      {decision === 'denied_host' && <p className="soft">The overview of the job lets you allow this host and run again.</p>}
    </Block>
  );
}

/** Whatever else an event holds, field by field. */
function Fields({ event, job, run }: { event: TraceEvent; job: string; run: number }) {
  const shown = Object.entries(event.data).filter(([, value]) => value !== '' && value !== null && !(Array.isArray(value) && value.length === 0));
  return (
    <dl className="arguments">
      {shown.map(([key, value]) => {
        const long = payload(event, key);
        const list = texts(event, key);
        return (
          <div key={key} className={long && shownText(long).length > 60 ? 'long' : ''}>
            <dt>{key.replaceAll('_', ' ')}</dt>
            <dd>{list.length ? <ul>{list.map((each) => <li key={each}>{each}</li>)}</ul> : typeof value === 'object' && long ? <Text value={long} job={job} run={run} /> : <pre tabIndex={0}>{typeof value === 'string' ? value : JSON.stringify(value)}</pre>}</dd>
          </div>
        );
      })}
    </dl>
  );
}

function Body({ step, job, run }: { step: Step; job: string; run: number }) {
  const event = step.events[0]!;
  switch (step.kind) {
    case 'tool':
      return <Tool step={step} job={job} run={run} />;
    case 'model':
      return <Model event={event} job={job} run={run} />;
    case 'say':
    case 'think': {
      const value = payload(event, 'text');
      return value ? <Text value={value} job={job} run={run} as="markdown" /> : null;
    }
    case 'verify':
    case 'setup': {
      const output = payload(event, 'output');
      return (
        <>
          <Block title="Command">
            <CommandText text={text(event, 'command')} />
          </Block>
          <Block title="Output">{output ? <Text value={output} job={job} run={run} /> : <p className="soft">It printed nothing.</p>}</Block>
        </>
      );
    }
    case 'network':
      return <Network event={event} />;
    case 'state': {
      const reason = event.data['reason'];
      return (
        <>
          <p>
            {stateWord(event.data['from'] as never)} → <strong>{stateWord(event.data['to'] as never)}</strong>
          </p>
          {typeof reason === 'string' && <p>{reasonSentence(reason as never)}</p>}
          {text(event, 'note') && <p className="soft">{text(event, 'note')}</p>}
        </>
      );
    }
    default:
      return <Fields event={event} job={job} run={run} />;
  }
}

export function Detail({ job, run, step, tree, close }: { job: string; run: number; step: Step; tree: Tree; close: () => void }) {
  const last = step.events.at(-1)!;
  const code = number(last, 'exit_code');
  const address = `${window.location.origin}/jobs/${job}/runs/${run}/trace?step=${step.seq}`;
  return (
    <aside className="detail" aria-label="Step">
      <header>
        <h2>
          <span className={`kind kind-${step.kind}`}>{step.name}</span>
          {step.failed && <span className="tr-failed">failed</span>}
        </h2>
        <Copy text={address} label="Copy a link to this step" />
        <button className="ghost small" onClick={close} aria-label="Close the step">
          <Icon name="cross" size={14} />
        </button>
      </header>
      <p className="detail-facts">
        <span title="Time since the run began">{clock(step.start_ms)}, {duration(step.start_ms - tree.start_ms)} in</span>
        {step.end_ms !== undefined && step.end_ms > step.start_ms && <span>took {duration(step.end_ms - step.start_ms)}</span>}
        {step.kind === 'model' && step.wait_ms > 0 && <span>first token after {duration(step.wait_ms)}</span>}
        {step.tokens > 0 && <span>{tokens(step.tokens)} tokens</span>}
        {step.cost_nano_usd !== null && <span>{money(step.cost_nano_usd)}</span>}
        {code !== undefined && <span className={code ? 'tone-text-bad' : ''}>exit {code}</span>}
        {step.kind === 'model' && <span className="mono">{step.detail}</span>}
      </p>
      <div className="detail-body">
        <Body step={step} job={job} run={run} />
      </div>
    </aside>
  );
}
