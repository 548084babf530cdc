import { Page } from '../../parts/page.tsx';

export function ScheduleListPage() {
  return <Page title="Schedule List">{null}</Page>;
}
