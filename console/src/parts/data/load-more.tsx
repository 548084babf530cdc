import { Button, Center } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';

/** The way to the next page of a list. Nothing when there is none. */
export function LoadMore({
  query,
}: {
  query: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;
}) {
  if (!query.hasNextPage) return null;
  return (
    <Center>
      <Button
        variant="default"
        loading={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        Load more
      </Button>
    </Center>
  );
}
