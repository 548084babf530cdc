import { sql } from './pool.ts';

/** The current calendar month, UTC, as the date of its first day. */
export const thisMonth = sql.fragment`date_trunc('month', now() AT TIME ZONE 'UTC')::date`;
