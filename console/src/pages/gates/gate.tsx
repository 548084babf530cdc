import { getRouteApi } from '@tanstack/react-router';
import { Inbox } from './inbox.tsx';

const route = getRouteApi('/inside/approvals/$runId/$nodeId');

/** A gate by its URL, which alerts link to. */
export function GatePage() {
  const { runId, nodeId } = route.useParams();
  const { step, mine = false } = route.useSearch();
  return <Inbox chosen={{ runId, nodeId, step }} mine={mine} />;
}
