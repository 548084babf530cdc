import { Page } from '../../parts/page.tsx';

export function EndpointPage() {
  return <Page title="Endpoint">{null}</Page>;
}
