import type { ReactNode } from 'react';

/** What is wrong with a field of the request. */
export type Problem = { field: string; text: string };

type FieldProps = { label: string; name: string; help?: ReactNode; problem?: Problem; children: (props: { id: string; 'aria-invalid': boolean; 'aria-describedby'?: string }) => ReactNode };

/** A labelled control with a word of help, or what is wrong with it. */
export function Field({ label, name, help, problem, children }: FieldProps) {
  const mine = problem && (problem.field === name || problem.field.startsWith(`${name}.`) || problem.field.startsWith(`${name}[`)) ? problem : undefined;
  const id = `field-${name.replaceAll('.', '-')}`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': mine !== undefined, 'aria-describedby': mine || help ? `${id}-help` : undefined })}
      {(mine || help) && (
        <p id={`${id}-help`} className={mine ? 'wrong' : 'help'}>
          {mine ? mine.text : help}
        </p>
      )}
    </div>
  );
}
