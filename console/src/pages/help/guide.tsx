import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { help } from '#console/src/messages/en/help.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Guide } from '#console/src/parts/markdown/markdown.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { UnknownPage } from '#console/src/shell/failure-pages.tsx';
import { guideQuery } from './guides.ts';

const route = getRouteApi('/inside/help/$guide');

/** One of the project's guides, with links to its headings and to other guides. */
export function GuidePage() {
  const { guide } = route.useParams();
  const query = useQuery(guideQuery(guide));
  if (query.data === null) return <UnknownPage />;
  return (
    <Page title={query.data?.title ?? help.title}>
      <Loaded query={query}>{(loaded) => loaded !== null && <Text text={loaded.text} />}</Loaded>
    </Page>
  );
}

/** The guide, at the heading in the URL. */
function Text({ text }: { text: string }) {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  useEffect(() => {
    if (hash !== '') document.querySelector(`#${CSS.escape(hash)}`)?.scrollIntoView();
  }, [hash, text]);
  return <Guide text={text} />;
}
