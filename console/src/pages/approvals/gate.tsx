import { useParams } from '@tanstack/react-router';
import { Inbox } from './inbox.tsx';

/** A gate by its URL, which alerts link to. */
export function GatePage() {
  const chosen = useParams({ from: '/inside/approvals/$runId/$nodeId' });
  return <Inbox chosen={chosen} />;
}
