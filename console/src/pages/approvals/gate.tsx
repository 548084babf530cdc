import { Page } from '../../parts/page.tsx';

export function GatePage() {
  return <Page title="Gate">{null}</Page>;
}
