import { useBranches } from '../api/queries';
import { useSettled } from '../ui/settled';
import { Refusal } from '../api/client';
import { count } from '../words/money';
import type { Problem } from './field';
import { Field } from './field';

const typing_ms = 500;

/** What is known of the repository's branches, in words. */
function useBranchWords(repository: string): { names: string[]; placeholder: string; help: string } {
  const settled = useSettled(repository.trim(), typing_ms);
  const branches = useBranches(settled);
  const known = settled === repository.trim() ? branches.data : undefined;
  const refusal = branches.error instanceof Refusal ? branches.error.message : undefined;
  if (!settled) return { names: [], placeholder: 'default branch', help: 'A branch, tag or commit.' };
  if (branches.isFetching && !known) return { names: [], placeholder: 'default branch', help: 'Looking at its branches…' };
  if (refusal) return { names: [], placeholder: 'default branch', help: `Its branches are not known: ${refusal}.` };
  if (!known) return { names: [], placeholder: 'default branch', help: 'A branch, tag or commit.' };
  return {
    names: known.items,
    placeholder: known.default ?? 'a branch',
    help: `${known.more ? 'More than ' : ''}${count(known.items.length, 'branch', 'branches')}; a tag or commit does, too.`,
  };
}

/** Where the work starts from: chosen from the branches that the repository has now, or typed. */
export function BaseField({ repository, value, change, problem }: { repository: string; value: string; change: (base: string) => void; problem?: Problem }) {
  const { names, placeholder, help } = useBranchWords(repository);
  return (
    <Field label="Start from" name="base" problem={problem} help={help}>
      {(rest) => (
        <>
          <input {...rest} value={value} onChange={(event) => change(event.target.value)} list="bases" spellCheck={false} autoComplete="off" placeholder={placeholder} />
          <datalist id="bases">
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
