import { useEffect, useMemo, useRef, useState, type FormEvent } from 'react';
import { useLocation, useSearch } from 'wouter';
import { post, Refusal } from '../api/client';
import { useAdapters, useJob, useModels, useSession, useTemplates } from '../api/queries';
import type { Job, KnownModel } from '../api/types';
import { useJobs } from '../live/live';
import { Drafts, formName } from '../review/drafts';
import { Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { Icon } from '../ui/icons';
import { Markdown } from '../ui/markdown';
import { useMay, useTitle } from '../ui/shell';
import { modelName } from '../words/model';
import { money } from '../words/money';
import { BaseField } from './base-field';
import { Field, type Problem } from './field';
import { emptyForm, FieldError, formIn, formOf, requestKey, requestOf, type JobForm } from './job-form';
import { repositories } from './job-filter';

function Task({ value, change, rest }: { value: string; change: (task: string) => void; rest: { id: string } }) {
  const [preview, setPreview] = useState(false);
  return (
    <div className="task-box">
      <div className="segments" role="group" aria-label="Task">
        <button type="button" aria-pressed={!preview} onClick={() => setPreview(false)}>
          Write
        </button>
        <button type="button" aria-pressed={preview} onClick={() => setPreview(true)}>
          Preview
        </button>
        <span className="soft">Markdown</span>
      </div>
      {preview ? (
        <div className="preview">{value.trim() ? <Markdown text={value} /> : <p className="soft">Nothing is written yet.</p>}</div>
      ) : (
        <textarea
          {...rest}
          rows={9}
          value={value}
          onChange={(event) => change(event.target.value)}
          placeholder={'The total of an empty basket is wrong.\n\nFind out why, fix it, and add a test that fails without the fix.'}
        />
      )}
    </div>
  );
}

function Commands({ values, change, placeholder, rest, word }: { values: string[]; change: (values: string[]) => void; placeholder: string; rest: { id: string }; word: string }) {
  const list = values.length ? values : [''];
  const set = (i: number, value: string) => change(list.map((old, at) => (at === i ? value : old)));
  return (
    <div className="commands">
      {list.map((value, i) => (
        <div key={i} className="command-line">
          <textarea
            {...(i === 0 ? rest : { 'aria-label': `${word} ${i + 1}` })}
            className="mono"
            rows={Math.min(6, value.split('\n').length)}
            spellCheck={false}
            value={value}
            placeholder={i === 0 ? placeholder : ''}
            onChange={(event) => set(i, event.target.value)}
          />
          {list.length > 1 && (
            <button type="button" className="ghost small" aria-label={`Remove ${word} ${i + 1}`} onClick={() => change(list.filter((_, at) => at !== i))}>
              <Icon name="cross" size={13} />
            </button>
          )}
        </div>
      ))}
      <button type="button" className="ghost small add" onClick={() => change([...list, ''])}>
        <Icon name="plus" size={12} /> Another command
      </button>
    </div>
  );
}

/** What the server takes when nothing is chosen. */
const usual = (choices: { name: string; default: boolean }[] | undefined): string => {
  const name = choices?.find((each) => each.default)?.name;
  return name ? `${modelName(name)} (default)` : "The server's default";
};

function priceWords(models: KnownModel[] | undefined, name: string): string | undefined {
  const model = models?.find((each) => (name ? each.name === name : each.default));
  if (!model) return undefined;
  return model.price ? `${money(model.price.input)} in, ${money(model.price.output)} out for a million tokens` : 'Its price is not known: a budget refuses it.';
}

function Form({ first, source }: { first: JobForm; source?: Job }) {
  const [, go] = useLocation();
  const { jobs, book } = useJobs();
  const templates = useTemplates();
  const adapters = useAdapters();
  const models = useModels();
  const me = useSession().data?.principal ?? '';
  const kept = useMemo(() => new Drafts(localStorage, formName(me, source?.id)), [me, source?.id]);
  const [form, setForm] = useState(() => formIn(kept.text('form')) ?? first);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const key = useRef(requestKey());
  const page = useRef<HTMLFormElement>(null);
  const known = useMemo(() => repositories(jobs), [jobs]);
  const used = jobs.map((job) => job.model).filter((model): model is string => !!model);
  const model_names = [...new Set([...(models.data ?? []).map((model) => model.name), ...used])];
  const agent = adapters.data?.find((each) => each.name === form.adapter || (!form.adapter && each.default));
  const set = <K extends keyof JobForm>(name: K, value: JobForm[K]) => {
    key.current = requestKey(); // another request
    setForm((old) => ({ ...old, [name]: value }));
  };
  const text_of_form = JSON.stringify(form);
  const changed = text_of_form !== JSON.stringify(first);
  // A look at another page, or a session that ends, loses nothing of what was typed.
  useEffect(() => kept.keep('form', changed ? text_of_form : ''), [kept, changed, text_of_form]);
  const startOver = () => {
    setForm(first);
    setProblem(undefined);
  };
  const show = (next: Problem) => {
    setProblem(next);
    setBusy(false);
    requestAnimationFrame(() => page.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const job = await post<Job>('/api/v1/jobs', requestOf(form), { 'Idempotency-Key': key.current });
      kept.keep('form', '');
      book.put(job);
      go(`/jobs/${job.id}`);
    } catch (error) {
      if (error instanceof FieldError) show({ field: error.field, text: error.message });
      else if (error instanceof Refusal) show({ field: error.field ?? '', text: error.message + (error.hint ? ` (${error.hint})` : '') });
      else show({ field: '', text: String(error) });
    }
  };
  const text = (name: 'base' | 'title' | 'model' | 'hosts' | 'budget_usd' | 'max_turns' | 'time_limit_min' | 'repository') => ({
    value: form[name],
    onChange: (event: { target: { value: string } }) => set(name, event.target.value),
  });
  const shown_fields = ['repository', 'base', 'task', 'verify', 'setup', 'budget', 'network', 'adapter', 'model', 'template', 'title', 'limits'];
  const elsewhere = problem && !shown_fields.some((field) => problem.field.startsWith(field)) ? problem : undefined;
  return (
    <form className="job-form" ref={page} onSubmit={(event) => void submit(event)} onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.currentTarget.requestSubmit()}>
      <div className="two wide-first">
        <Field label="Repository" name="repository" problem={problem} help="An http(s) address, or a path that the server allows.">
          {(rest) => (
            <>
              <input {...rest} {...text('repository')} list="repositories" spellCheck={false} autoFocus={!source} placeholder="https://git.example.com/shop.git" />
              <datalist id="repositories">
                {known.map((each) => (
                  <option key={each.address} value={each.address} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <BaseField repository={form.repository} value={form.base} change={(base) => set('base', base)} problem={problem} />
      </div>
      <Field label="Task" name="task" problem={problem}>
        {(rest) => <Task rest={rest} value={form.task} change={(task) => set('task', task)} />}
      </Field>
      <Field label="Must pass at the end" name="verify" problem={problem} help="Run after the agent; when one fails, the agent is told and goes on.">
        {(rest) => <Commands rest={rest} word="Verify command" values={form.verify} change={(verify) => set('verify', verify)} placeholder="make test" />}
      </Field>
      <div className="two">
        <Field label="Budget" name="budget" problem={problem} help="Dollars for one run; it stops there.">
          {(rest) => (
            <span className="prefixed">
              <span>$</span>
              <input {...rest} {...text('budget_usd')} inputMode="decimal" placeholder="the server's default" />
            </span>
          )}
        </Field>
        <Field label="Allowed hosts" name="network" problem={problem} help="What setup and agent may reach besides the model: packages.example.org, *.example.com">
          {(rest) => <input {...rest} {...text('hosts')} spellCheck={false} placeholder="none" />}
        </Field>
      </div>
      <details open={source !== undefined || ['adapter', 'model', 'template', 'setup', 'title', 'limits'].some((field) => problem?.field.startsWith(field))}>
        <summary>Agent, model, sandbox, limits</summary>
        <div className="three">
          <Field label="Agent" name="adapter" problem={problem} help={agent?.problem ?? undefined}>
            {(rest) => (
              <select {...rest} value={form.adapter} onChange={(event) => set('adapter', event.target.value)}>
                <option value="">{usual(adapters.data)}</option>
                {[...new Set([...(adapters.data ?? []).map((each) => each.name), ...(form.adapter ? [form.adapter] : [])])].map((each) => (
                  <option key={each} value={each}>
                    {each}
                    {adapters.data?.find((entry) => entry.name === each)?.ready === false && ' (not ready)'}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Model" name="model" problem={problem} help={priceWords(models.data, form.model)}>
            {(rest) => (
              <>
                <input {...rest} {...text('model')} list="models" spellCheck={false} autoComplete="off" placeholder={usual(models.data)} />
                <datalist id="models">
                  {model_names.map((model) => (
                    <option key={model} value={model} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
          <Field label="Template" name="template" problem={problem} help={templates.data?.find((each) => each.name === form.template)?.description}>
            {(rest) => (
              <select {...rest} value={form.template} onChange={(event) => set('template', event.target.value)}>
                <option value="">The server's default</option>
                {[...new Set([...(templates.data ?? []).map((each) => each.name), ...(form.template ? [form.template] : [])])].map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            )}
          </Field>
        </div>
        <Field label="Before the agent" name="setup" problem={problem} help="Setup commands; they may reach the allowed hosts.">
          {(rest) => <Commands rest={rest} word="Setup command" values={form.setup} change={(setup) => set('setup', setup)} placeholder="npm ci" />}
        </Field>
        <div className="three">
          <Field label="Title" name="title" problem={problem}>
            {(rest) => <input {...rest} {...text('title')} maxLength={200} placeholder="first line of the task" />}
          </Field>
          <Field label="Turns, at most" name="limits.max_turns" problem={problem}>
            {(rest) => <input {...rest} {...text('max_turns')} inputMode="numeric" placeholder="the server's default" />}
          </Field>
          <Field label="Minutes, at most" name="limits.time_limit_s" problem={problem}>
            {(rest) => <input {...rest} {...text('time_limit_min')} inputMode="decimal" placeholder="the server's default" />}
          </Field>
        </div>
      </details>
      <label className="check">
        <input type="checkbox" checked={form.push} onChange={(event) => set('push', event.target.checked)} />
        Push the result to the repository, on a branch of its own
      </label>
      {elsewhere && (
        <p className="wrong" role="alert">
          {elsewhere.field && `${elsewhere.field}: `}
          {elsewhere.text}
        </p>
      )}
      <div className="actions">
        <button className="primary large" disabled={busy}>
          {busy ? 'Creating…' : 'Start the job'}
        </button>
        {changed && (
          <button type="button" className="ghost" onClick={startOver}>
            Start over
          </button>
        )}
        <span className="soft wide-only">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
      </div>
    </form>
  );
}

function FormFrom({ id }: { id: string }) {
  const job = useJob(id);
  if (job.error) return <Failure error={job.error} />;
  if (!job.data) return <Waiting />;
  return <Form first={formOf(job.data)} source={job.data} />;
}

export default function NewJobPage() {
  const from = new URLSearchParams(useSearch()).get('from');
  useTitle('New job');
  if (!useMay('operator'))
    return (
      <div className="empty">
        <p>Your role may watch jobs, not create them.</p>
      </div>
    );
  return (
    <div className="page narrow">
      <h1>{from ? 'Run again with changes' : 'New job'}</h1>
      {from ? <FormFrom key={from} id={from} /> : <Form first={emptyForm()} />}
    </div>
  );
}
