import * as Menu from '@radix-ui/react-dropdown-menu';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { remove } from '../api/client';
import { session_query, useSession } from '../api/queries';
import { atLeast } from '../api/roles';
import type { Role, Who } from '../api/types';
import { useJobs, useSeen, useStreamState } from '../live/live';
import { forgetDrafts } from '../review/drafts';
import { need } from '../words/states';
import { Confirm } from './dialog';
import { Icon, Mark } from './icons';
import { KeyHelp, useKeys } from './keys';
import { useShelf } from './shelf';
import { setTheme, theme, type Theme } from './theme';
import { toastRefusal } from './toasts';
import { UnsavedSign } from './unsaved-sign';

/** True when the one who is signed in may do what needs this role. */
export const useMay = (least: Role): boolean => atLeast(useSession().data?.role, least);

const words = { connecting: 'Connecting', live: 'Live', lost: 'Connection lost' } as const;

function StreamSign() {
  const state = useStreamState();
  return (
    <span className={`stream ${state}`} role="status" title={state === 'live' ? 'What you see is up to date' : words[state]}>
      <i className="dot" />
      <span className={state === 'lost' ? '' : 'wide-only'}>
        {words[state]}
        {state === 'lost' && <span className="wide-only">, trying again</span>}
      </span>
    </span>
  );
}

function UserMenu({ who }: { who: Who }) {
  const client = useQueryClient();
  const [now, setNow] = useState<Theme>(theme);
  const [, go] = useLocation();
  const shelf = useShelf();
  const [asked, setAsked] = useState(false);
  const signOut = async () => {
    try {
      await remove('/api/v1/session');
      shelf.clear();
      forgetDrafts(localStorage, who.principal);
      client.setQueryData(session_query.queryKey, null);
      window.location.assign('/sign-in');
    } catch (error) {
      toastRefusal('Signing out failed', error);
    }
  };
  return (
    <>
      <Menu.Root modal={false}>
        <Menu.Trigger className="ghost user" aria-label={`Account: ${who.principal}`}>
          <Icon name="user" />
          <span className="wide-only">{who.principal}</span>
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Content className="menu" align="end" sideOffset={6}>
            <div className="menu-head">
              <strong>{who.principal}</strong>
              <span>{who.role}</span>
            </div>
            <Menu.RadioGroup
              value={now}
              onValueChange={(value) => {
                setTheme(value as Theme);
                setNow(value as Theme);
              }}
            >
              {(['auto', 'light', 'dark'] as const).map((each) => (
                <Menu.RadioItem key={each} value={each} className="menu-item" onSelect={(event) => event.preventDefault()}>
                  <span className="tick">
                    <Menu.ItemIndicator>
                      <Icon name="check" size={13} />
                    </Menu.ItemIndicator>
                  </span>
                  {{ auto: 'As the system', light: 'Light', dark: 'Dark' }[each]}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="menu-line" />
            <Menu.Item className="menu-item" onSelect={() => go('/account')}>
              <span className="tick" />
              Sessions and tokens
            </Menu.Item>
            <Menu.Item className="menu-item" onSelect={() => (shelf.unsaved() ? setAsked(true) : void signOut())}>
              <span className="tick" />
              Sign out
            </Menu.Item>
          </Menu.Content>
        </Menu.Portal>
      </Menu.Root>
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        onYes={() => void signOut()}
        title="Sign out?"
        text="Not everything that you decided is saved. It is lost when you sign out."
        yes="Sign out anyway"
        danger
      />
    </>
  );
}

/** The number of jobs that need somebody stands in the title of every page: tabs show it. */
let page_title = 'Forge';
function showTitle(needs: number): void {
  document.title = `${needs ? `(${needs}) ` : ''}${page_title}`;
}

export function useTitle(title: string): void {
  useEffect(() => {
    const badge = /^\(\d+\) /.exec(document.title)?.[0] ?? '';
    page_title = title === 'Forge' ? title : `${title} · Forge`;
    document.title = badge + page_title;
  }, [title]);
}

export function Shell({ children }: { children: ReactNode }) {
  const [place, go] = useLocation();
  const who = useSession().data;
  const may_create = useMay('operator');
  const { jobs } = useJobs();
  const seen = useSeen();
  const needs = jobs.filter((job) => need(job, seen)).length;
  useEffect(() => showTitle(needs), [needs, place]);
  useKeys('Everywhere', [
    { keys: 'g j', word: 'Go to the jobs', run: () => go('/') },
    ...(may_create ? [{ keys: 'n', word: 'New job', run: () => go('/new') }] : []),
    { keys: 'g c', word: 'Go to the costs', run: () => go('/costs') },
    { keys: 'g a', word: 'Go to sessions and tokens', run: () => go('/account') },
  ]);
  return (
    <div className="shell">
      <a className="skip" href="#page">
        To the content
      </a>
      <header className="top">
        <Link href="/" className="brand" aria-label="Forge: all jobs">
          <Mark />
          <span>Forge</span>
        </Link>
        {who && (
          <nav aria-label="Main">
            <Link href="/" className={place === '/' ? 'here' : ''}>
              Jobs
              {needs > 0 && (
                <span className="badge" title={`${needs} need you`}>
                  {needs}
                </span>
              )}
            </Link>
            <Link href="/costs" className={place === '/costs' ? 'here' : ''}>
              Costs
            </Link>
          </nav>
        )}
        <span className="gap" />
        {who && <UnsavedSign who={who.principal} />}
        {who && <StreamSign />}
        {may_create && (
          <Link href="/new" className="button primary new-job" aria-label="New job">
            <Icon name="plus" size={14} />
            <span>New job</span>
          </Link>
        )}
        {who && <UserMenu who={who} />}
      </header>
      <main id="page" tabIndex={-1}>
        {children}
      </main>
      <KeyHelp />
    </div>
  );
}
