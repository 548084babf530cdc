import { Page } from '../../parts/page.tsx';

export function MemberPage() {
  return <Page title="Member">{null}</Page>;
}
