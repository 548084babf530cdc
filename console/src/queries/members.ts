import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const membersKey = ['members'] as const;

/** Members of every status. */
export const membersQuery = queryOptions({
  queryKey: [...membersKey, 'list'],
  queryFn: ({ signal }) => api().listMembers({}, { signal }),
});

/** One member with their capabilities and the source of each. */
export const memberQuery = (memberId: string) =>
  queryOptions({
    queryKey: [...membersKey, 'member', memberId],
    queryFn: ({ signal }) => api().getMember(memberId, { signal }),
  });

/** Activity of a member. */
export const memberStatsQuery = (memberId: string) =>
  queryOptions({
    queryKey: [...membersKey, 'stats', memberId],
    queryFn: ({ signal }) => api().getMemberStats(memberId, { signal }),
  });
