import { Page } from '../../parts/page.tsx';

export function ChangesPage() {
  return <Page title="Changes">{null}</Page>;
}
