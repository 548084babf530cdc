import { Page } from '../../parts/page.tsx';

export function WorkflowListPage() {
  return <Page title="Workflow List">{null}</Page>;
}
