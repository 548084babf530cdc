import { Stack } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadMore } from './load-more.tsx';

/** The rows of a query that loads page by page, above the button for more. Without rows, it shows `empty`. */
export function LoadedList<Row>({
  query,
  loading,
  empty,
  gap = 'sm',
  children,
}: Pick<ComponentProps<typeof Loaded>, 'loading'> & {
  query: UseInfiniteQueryResult<readonly Row[]>;
  empty: ReactNode;
  gap?: 'sm' | 'md';
  children: (rows: readonly Row[]) => ReactNode;
}) {
  return (
    <Loaded query={query} loading={loading}>
      {(rows) =>
        rows.length === 0 ? (
          empty
        ) : (
          <Stack gap={gap}>
            {children(rows)}
            <LoadMore query={query} />
          </Stack>
        )
      }
    </Loaded>
  );
}
