import { Page } from '../../parts/page.tsx';

export function GalleryPage() {
  return <Page title="Gallery">{null}</Page>;
}
