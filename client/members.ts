import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { Member, MemberDetail, MemberStats, Role } from './types.ts';

type Overrides = BodyOf<'PUT /api/members/{id}/permissions'>['overrides'];

export function memberMethods(send: Send) {
  return {
    listMembers: (
      query: QueryOf<'GET /api/members'> = {},
      options?: CallOptions,
    ): Promise<Member[]> =>
      wholeList((page) => send('GET /api/members', [], { query: page, options }), query),
    getMember: (memberId: string, options?: CallOptions): Promise<MemberDetail> =>
      send('GET /api/members/{id}', [memberId], { options }),
    getMemberStats: (memberId: string, options?: CallOptions): Promise<MemberStats> =>
      send('GET /api/members/{id}/stats', [memberId], { options }),
    inviteMember: (
      body: BodyOf<'POST /api/members/invite'>,
      options?: CallOptions,
    ): Promise<Member> => send('POST /api/members/invite', [], { body, options }),
    /** Creates a new invite code. The previous one becomes invalid immediately. */
    renewInvite: (memberId: string, options?: CallOptions): Promise<MemberDetail> =>
      send('POST /api/members/{id}/invite', [memberId], { options }),
    /** Approves a member who has signed up. */
    approveMember: (memberId: string, options?: CallOptions): Promise<MemberDetail> =>
      send('POST /api/members/{id}/approve', [memberId], { options }),
    changeRole: (memberId: string, role: Role, options?: WriteOptions): Promise<MemberDetail> =>
      send('PATCH /api/members/{id}', [memberId], { body: { role }, options }),
    /** Like `changeRole`, with PUT. */
    setRole: (memberId: string, role: Role, options?: WriteOptions): Promise<MemberDetail> =>
      send('PUT /api/members/{id}', [memberId], { body: { role }, options }),
    /** True and false override the role; null removes an override. Omitted capabilities are unchanged. */
    changePermissions: (
      memberId: string,
      overrides: Overrides,
      options?: WriteOptions,
    ): Promise<MemberDetail> =>
      send('PATCH /api/members/{id}/permissions', [memberId], { body: { overrides }, options }),
    /** Like `changePermissions`, with PUT. */
    setPermissions: (
      memberId: string,
      overrides: Overrides,
      options?: WriteOptions,
    ): Promise<MemberDetail> =>
      send('PUT /api/members/{id}/permissions', [memberId], { body: { overrides }, options }),
    removeMember: (memberId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/members/{id}', [memberId], { options }),
  };
}
