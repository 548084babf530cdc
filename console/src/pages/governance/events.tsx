import { Page } from '../../parts/page.tsx';

export function EventsPage() {
  return <Page title="Events">{null}</Page>;
}
