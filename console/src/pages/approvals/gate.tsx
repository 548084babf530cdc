import { useParams } from '@tanstack/react-router';
import { Inbox } from './inbox.tsx';

/** One gate by its address, as an alert links to it. */
export function GatePage() {
  const chosen = useParams({ from: '/inside/approvals/$runId/$nodeId' });
  return <Inbox chosen={chosen} />;
}
