import { Page } from '../../parts/page.tsx';

export function InvitePage() {
  return <Page title="Invite">{null}</Page>;
}
