import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { useLocation, useSearch } from 'wouter';
import { post, Refusal } from '../api/client';
import type { Who } from '../api/types';
import { Mark } from '../ui/icons';

/** `ended`: somebody was signed in on this page until now. */
export function SignInPage({ next, ended }: { next: string; ended: boolean }) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const link_is_used = new URLSearchParams(useSearch()).has('link');
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState('');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setWrong('');
    try {
      const who = await post<Who>('/api/v1/session', { token: token.trim() });
      client.setQueryData(['session'], who);
      go(next, { replace: true });
    } catch (error) {
      setWrong(error instanceof Refusal ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <main className="sign-in">
      <form onSubmit={(event) => void submit(event)}>
        <div className="brand big">
          <Mark />
          <h1>Forge</h1>
        </div>
        {link_is_used && <p role="status">That link was used before, or has expired. A token signs in any time.</p>}
        {ended && <p role="status">Your session has ended. Sign in again to go on.</p>}
        <label htmlFor="token">Token</label>
        <input
          id="token"
          type="password"
          autoComplete="current-password"
          autoFocus
          spellCheck={false}
          placeholder="forge_…"
          value={token}
          onChange={(event) => setToken(event.target.value)}
          aria-invalid={wrong !== ''}
          aria-describedby="token-help"
        />
        {wrong && (
          <p className="wrong" role="alert">
            {wrong[0]?.toUpperCase() + wrong.slice(1)}.
          </p>
        )}
        <button className="primary" disabled={busy || !token.trim()}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <p className="soft" id="token-help">
          No token? <code>forge serve</code> prints a link that signs you in once, and <code>forge token create NAME --role operator</code> makes a token, both on the server.
        </p>
      </form>
    </main>
  );
}
