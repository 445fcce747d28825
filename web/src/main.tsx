import './styles/base.css';
import './styles/controls.css';
import './styles/parts.css';
import './styles/shell.css';
import './styles/jobs.css';
import './styles/job.css';
import './styles/costs.css';
import './styles/trace.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { Refusal } from './api/client';
import { session_query } from './api/queries';
import { App } from './app';
import { showTheme } from './ui/theme';

showTheme();

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      // What the server refused it refuses again; only an absent server is worth another try.
      retry: (tries, error) => tries < 3 && error instanceof Refusal && (error.status === 0 || error.status === 503),
    },
  },
});

// Asked before the first picture is drawn, not after it.
void client.prefetchQuery(session_query);

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={client}>
    <App />
  </QueryClientProvider>,
);
