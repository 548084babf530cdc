import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { LoadingRows } from './loading.tsx';

/**
 * The data of a query, or else its loading state or error. If a later read fails, the data stays in view with the error
 * above it.
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
