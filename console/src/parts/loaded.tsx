import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { LoadingRows } from './loading.tsx';

/**
 * What a query gave, once it did; until then that it is loading, or why it failed. Data that is there stays in view
 * while a later read fails: the failure is shown above it.
 */
export function Loaded<T>({
  query,
  children,
  loading = <LoadingRows />,
}: {
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  children: (data: T) => ReactNode;
  loading?: ReactNode;
}) {
  const { data, error, refetch } = query;
  return (
    <>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? error === null && loading : children(data)}
    </>
  );
}
