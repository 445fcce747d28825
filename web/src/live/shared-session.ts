import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

/** The tabs of a browser share one session: when another person signs in in one of them, the others ask the server who that is. */
export function useSharedSession(principal: string | null | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (principal === undefined || !('BroadcastChannel' in window)) return;
    const channel = new BroadcastChannel('forge-session');
    channel.onmessage = ({ data }: { data: unknown }) => {
      if (data !== principal) void client.invalidateQueries({ queryKey: ['session'] });
    };
    channel.postMessage(principal);
    return () => channel.close();
  }, [client, principal]);
}
