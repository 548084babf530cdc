import { Page } from '../../parts/page.tsx';

export function EndpointsPage() {
  return <Page title="Endpoints">{null}</Page>;
}
