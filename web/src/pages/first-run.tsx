import { Link } from 'wouter';
import { Command } from '../ui/bits';
import { Icon } from '../ui/icons';
import { useMay } from '../ui/shell';

const steps = [
  { title: 'You describe a change', text: 'A repository, a task in your own words, and the commands that must pass.' },
  { title: 'An agent makes it in a sandbox', text: 'You watch every step, what it costs, and what it tried to reach.' },
  { title: 'You decide about the diff', text: 'It waits on a branch of its own. Nothing is merged for you.' },
];

/** What stands where the jobs will be. */
export function FirstRun() {
  const may_create = useMay('operator');
  return (
    <div className="first-run">
      <h1>No jobs yet</h1>
      <ol>
        {steps.map((step) => (
          <li key={step.title}>
            <strong>{step.title}</strong>
            <span>{step.text}</span>
          </li>
        ))}
      </ol>
      {may_create ? (
        <Link href="/new" className="button primary large">
          <Icon name="plus" size={15} />
          Create the first job
        </Link>
      ) : (
        <p className="soft">Your role may watch jobs. Somebody with the role operator creates the first one.</p>
      )}
      <p className="soft">From a terminal on the server, the same is</p>
      <Command text='forge run --repo . --task "The total of an empty basket is wrong. Find out why, fix it, add a test."' />
    </div>
  );
}
