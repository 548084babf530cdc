import { Page } from '../../parts/page.tsx';

export function RunListPage() {
  return <Page title="Run List">{null}</Page>;
}
