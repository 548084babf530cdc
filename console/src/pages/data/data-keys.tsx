import { Page } from '../../parts/page.tsx';

export function DataKeysPage() {
  return <Page title="Data Keys">{null}</Page>;
}
