import { Page } from '../../parts/page.tsx';

export function BudgetsPage() {
  return <Page title="Budgets">{null}</Page>;
}
