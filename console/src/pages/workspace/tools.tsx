import { Page } from '../../parts/page.tsx';

export function ToolsPage() {
  return <Page title="Tools">{null}</Page>;
}
