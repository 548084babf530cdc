import { Page } from '../../parts/page.tsx';

export function EditorPage() {
  return <Page title="Editor">{null}</Page>;
}
