import { Page } from '../../parts/page.tsx';

export function EntityPage() {
  return <Page title="Entity">{null}</Page>;
}
