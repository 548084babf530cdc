import { Page } from '../../parts/page.tsx';

export function EntitiesPage() {
  return <Page title="Entities">{null}</Page>;
}
