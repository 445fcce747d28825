import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { post, remove } from '../api/client';
import { useSession, useSessions, useTokens } from '../api/queries';
import type { NewToken, Role, SignInLink } from '../api/types';
import { useNow } from '../live/live';
import { Ago, Command, Panel, Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { Confirm, Modal } from '../ui/dialog';
import { useMay, useTitle } from '../ui/shell';
import { toast, toastRefusal } from '../ui/toasts';
import { ScrollBox } from '../ui/scroll-box';

const roles: { role: Role; may: string }[] = [
  { role: 'viewer', may: 'reads' },
  { role: 'reviewer', may: 'also comments and decides' },
  { role: 'operator', may: 'also creates and cancels jobs' },
  { role: 'admin', may: 'everything' },
];

/** Ends one of a list by DELETE, says how it went, and has the list read again, and who is signed in. */
function useEnding(path: string, list: string, ended: string, failed: string) {
  const client = useQueryClient();
  return async (id: string) => {
    try {
      await remove(`${path}/${id}`);
      toast(ended);
    } catch (error) {
      toastRefusal(failed, error);
    }
    for (const key of [list, 'session']) void client.invalidateQueries({ queryKey: [key] });
  };
}

function Sessions() {
  const sessions = useSessions();
  const now = useNow(30_000);
  const end = useEnding('/api/v1/sessions', 'sessions', 'The session has ended', 'Ending the session failed');
  if (sessions.error) return <Failure error={sessions.error} />;
  if (!sessions.data) return <Waiting />;
  return (
    <ScrollBox label="Sessions">
      <table>
        <thead>
          <tr>
            <th>Who</th>
            <th>Role</th>
            <th>Began</th>
            <th>Last used</th>
            <th aria-label="Actions" />
          </tr>
        </thead>
        <tbody>
          {sessions.data.map((session) => (
            <tr key={session.id}>
              <td>{session.principal}</td>
              <td>{session.role}</td>
              <td>
                <Ago ms={session.created_ms} now={now} />
              </td>
              <td>
                <Ago ms={session.last_used_ms} now={now} />
              </td>
              <td className="right">
                <button className="small" onClick={() => void end(session.id)}>
                  End
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function NewSecret() {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('operator');
  const [made, setMade] = useState<{ title: string; secret: string; text: string }>();
  const make = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const token = await post<NewToken>('/api/v1/tokens', { name: name.trim(), role });
      setMade({ title: `Token ${token.name}`, secret: token.secret, text: 'It is shown this once; only its hash is kept.' });
      setName('');
      void client.invalidateQueries({ queryKey: ['tokens'] });
    } catch (error) {
      toastRefusal('Making the token failed', error);
    }
  };
  const link = async () => {
    try {
      const made = await post<SignInLink>('/api/v1/sign-in-links', { role });
      setMade({ title: `Sign-in link, ${made.role}`, secret: window.location.origin + made.path, text: 'It signs one browser in, once, within 15 minutes.' });
    } catch (error) {
      toastRefusal('Making the link failed', error);
    }
  };
  return (
    <form className="inline-form" onSubmit={(event) => void make(event)}>
      <label>
        Name
        <input value={name} maxLength={100} placeholder="ci" onChange={(event) => setName(event.target.value)} />
      </label>
      <label>
        Role
        <select value={role} onChange={(event) => setRole(event.target.value as Role)}>
          {roles.map((each) => (
            <option key={each.role} value={each.role}>
              {each.role}
            </option>
          ))}
        </select>
      </label>
      <button className="primary" disabled={!name.trim()}>
        Make a token
      </button>
      <button type="button" onClick={() => void link()}>
        Make a sign-in link
      </button>
      <p className="soft small-text">
        The role {role}: {roles.find((each) => each.role === role)?.may}.
      </p>
      <Modal open={made !== undefined} onClose={() => setMade(undefined)} title={made?.title ?? ''} description={made?.text}>
        {made && <Command text={made.secret} />}
      </Modal>
    </form>
  );
}

function Tokens() {
  const tokens = useTokens(true);
  const now = useNow(30_000);
  const [asked, setAsked] = useState<{ id: string; name: string }>();
  const revoke = useEnding('/api/v1/tokens', 'tokens', 'The token is revoked', 'Revoking failed');
  if (tokens.error) return <Failure error={tokens.error} />;
  if (!tokens.data) return <Waiting />;
  const valid = tokens.data.filter((token) => !token.revoked);
  return (
    <>
      {valid.length > 0 && (
        <ScrollBox label="Tokens">
          <table>
            <thead>
              <tr>
                <th>Name</th>
                <th>Role</th>
                <th>Made</th>
                <th>Last used</th>
                <th aria-label="Actions" />
              </tr>
            </thead>
            <tbody>
              {valid.map((token) => (
                <tr key={token.id}>
                  <td>{token.name}</td>
                  <td>{token.role}</td>
                  <td>
                    <Ago ms={token.created_ms} now={now} />
                  </td>
                  <td>{token.last_used_ms === null ? 'never' : <Ago ms={token.last_used_ms} now={now} />}</td>
                  <td className="right">
                    <button className="small" onClick={() => setAsked(token)}>
                      Revoke
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      )}
      {valid.length === 0 && <p className="soft">There is no token yet.</p>}
      <Confirm
        open={asked !== undefined}
        onClose={() => setAsked(undefined)}
        onYes={() => asked && void revoke(asked.id)}
        title={`Revoke ${asked?.name}?`}
        text="Its sessions and open streams end, too. This cannot be taken back."
        yes="Revoke"
        danger
      />
    </>
  );
}

export default function AccountPage() {
  useTitle('Sessions and tokens');
  const who = useSession().data;
  const admin = useMay('admin');
  return (
    <div className="page narrow">
      <h1>Sessions and tokens</h1>
      <p className="soft">
        You are <strong>{who?.principal}</strong>, {who?.role}: {roles.find((each) => each.role === who?.role)?.may}.
      </p>
      <Panel title={admin ? 'Sessions of everybody' : 'Your sessions'}>
        <Sessions />
      </Panel>
      {admin && (
        <Panel title="Tokens">
          <NewSecret />
          <Tokens />
        </Panel>
      )}
    </div>
  );
}
