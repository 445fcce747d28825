import { Component, type ReactNode } from 'react';
import { Refusal } from '../api/client';

/** Words for what went wrong, with what would help where the server knows it. */
export function Failure({ error, again }: { error: unknown; again?: () => void }) {
  const known = error instanceof Refusal;
  return (
    <div className="failure" role="alert">
      <strong>{known ? error.message : 'Something in this page broke.'}</strong>
      {known && error.hint && <p>{error.hint}</p>}
      {!known && <p className="mono">{String(error)}</p>}
      {again && <button onClick={again}>Try again</button>}
    </div>
  );
}

/** A page that breaks says so and leaves the rest standing. `at` names the page: another one is a new try. */
export class Boundary extends Component<{ at: string; children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override componentDidUpdate(before: { at: string }) {
    if (before.at !== this.props.at && this.state.error !== undefined) this.setState({ error: undefined });
  }
  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <Failure error={this.state.error} again={() => this.setState({ error: undefined })} />;
  }
}
