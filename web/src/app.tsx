import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { useSession } from './api/queries';
import { LiveProvider } from './live/live';
import { useSharedSession } from './live/shared-session';
import { JobsPage } from './pages/jobs';
import { SignInPage } from './pages/sign-in';
import { Shelf, ShelfProvider, useWarning } from './ui/shelf';
import { Shell } from './ui/shell';
import { Boundary, Failure } from './ui/boundary';
import { Waiting } from './ui/bits';
import { Toasts } from './ui/toasts';

const JobPage = lazy(() => import('./pages/job'));
const NewJobPage = lazy(() => import('./pages/new-job'));
const AccountPage = lazy(() => import('./pages/account'));
const CostsPage = lazy(() => import('./pages/costs'));

// The server has the same list of pages (orchestrator/http/dashboard.cpp): what it does not know cannot be opened by its address.
function Pages() {
  return (
    <Switch>
      <Route path="/" component={JobsPage} />
      <Route path="/new" component={NewJobPage} />
      <Route path="/account" component={AccountPage} />
      <Route path="/costs" component={CostsPage} />
      <Route path="/sign-in">
        <Redirect to="/" replace />
      </Route>
      <Route path="/jobs/:id">{({ id }) => <JobPage id={id} />}</Route>
      <Route path="/jobs/:id/runs/:n">{({ id, n }) => <JobPage id={id} run={n} />}</Route>
      <Route path="/jobs/:id/runs/:n/:view">{({ id, n, view }) => <JobPage id={id} run={n} view={view} />}</Route>
      <Route path="/jobs/:id/:view">{({ id, view }) => <JobPage id={id} view={view} />}</Route>
      <Route>
        <div className="empty">
          <h1>There is no such page</h1>
          <a href="/">To the jobs</a>
        </div>
      </Route>
    </Switch>
  );
}

/** The frame of all pages; what is in it is for who is signed in. */
function Guarded({ children }: { children: ReactNode }) {
  const session = useSession();
  const [place] = useLocation();
  const was_in = useRef(false);
  useSharedSession(session.data && session.data.principal);
  useEffect(() => {
    if (session.data) was_in.current = true;
  }, [session.data]);
  if (session.data === null) return <SignInPage ended={was_in.current} next={place === '/sign-in' ? '/' : place + window.location.search} />;
  const signed_in = session.data !== undefined;
  // The frame is drawn while the server is asked who this is.
  return (
    <LiveProvider signed_in={signed_in}>
      <Shell>{signed_in ? children : session.error ? <Failure error={session.error} again={() => void session.refetch()} /> : <Waiting what="Asking who you are" />}</Shell>
    </LiveProvider>
  );
}

export function App() {
  const [place] = useLocation();
  const [shelf] = useState(() => new Shelf());
  useWarning(shelf);
  return (
    <ShelfProvider value={shelf}>
      <Guarded>
        <Boundary at={place}>
          <Suspense fallback={<Waiting />}>
            <Pages />
          </Suspense>
        </Boundary>
      </Guarded>
      <Toasts />
    </ShelfProvider>
  );
}
