import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const slackAccountKey = ['slack-account'] as const;

/** The account of Slack that decides as the user, and one that wants to. */
export const slackAccountQuery = queryOptions({
  queryKey: slackAccountKey,
  queryFn: ({ signal }) => api().getSlackAccount({ signal }),
});
