import { Page } from '../../parts/page.tsx';

export function PoliciesPage() {
  return <Page title="Policies">{null}</Page>;
}
