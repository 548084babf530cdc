import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { gotNoResponse } from './text/describe-error.ts';
import { LoadingRows } from './loading.tsx';

/**
 * The data of a query, or else its loading state or error. If a later read fails, the data stays in view with the error
 * above it. Without a response, the query stays as it is: the bar above all pages says so, and it is read again.
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
  const { data, refetch } = query;
  const error = gotNoResponse(query.error) ? null : query.error;
  return (
    <>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? error === null && loading : children(data)}
    </>
  );
}
