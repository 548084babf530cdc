import { Box, Text } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect } from 'react';
import { infiniteList as text } from '#console/src/messages/en/data/data.ts';
import { LoadMore } from '#console/src/parts/data/load-more.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';

/** Distance below the viewport at which the next page is fetched. */
const AHEAD = '600px';
/**
 * The maximum number of rows to load without a click, because browsers are slow to lay out tables of thousands of rows.
 */
const MOST_BY_ITSELF = 1_000;

/** The end of a list that loads more rows on scroll. */
export function InfiniteList({
  query,
  shown,
}: {
  query: Pick<
    UseInfiniteQueryResult,
    'hasNextPage' | 'isFetchingNextPage' | 'isError' | 'fetchNextPage'
  >;
  shown: number;
}) {
  const { ref, entry } = useIntersection({ rootMargin: AHEAD });
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = query;
  const grows =
    entry?.isIntersecting === true &&
    hasNextPage &&
    !isFetchingNextPage &&
    !isError &&
    shown < MOST_BY_ITSELF;
  useEffect(() => {
    if (grows) void fetchNextPage();
  }, [grows, fetchNextPage]);
  return (
    <Box ref={ref}>
      <LoadMore query={query} />
      <Text size="xs" c="dimmed" ta="center" role="status">
        {hasNextPage ? text.shown(countText(shown)) : text.allShown(countText(shown))}
      </Text>
    </Box>
  );
}
