import type { CapabilityOverrides, Role } from '#shared/people/capabilities.ts';
import { newId } from '#shared/crypto/ids.ts';
import type { TestApi } from '#test/api/test-api.ts';

export const PASSWORD = 'correct horse battery';

/** A member with a session. */
export interface Person {
  id: string;
  name: string;
  email: string;
  token: string;
  /** The headers of their requests. */
  headers: { authorization: string };
}

export const newEmail = (): string => `${newId('member')}@example.com`;

/** The code of a new invitation and the invited member. `by`: the inviter's headers; default: none. */
export async function invite(
  { call }: Pick<TestApi, 'call'>,
  given: { role: Role; name?: string; email?: string; by?: Record<string, string> },
): Promise<{ id: string; name: string; email: string; code: string }> {
  const { role, name = 'Ann', email = newEmail(), by } = given;
  const { status, body } = await call('POST', '/api/members/invite', { name, email, role }, by);
  if (status !== 201) throw new Error(`the invitation was answered ${status}: ${body.detail}`);
  return { id: body.id, name, email, code: body.invite_code };
}

/** A member who has accepted an invitation. */
export async function addMember(
  api: Pick<TestApi, 'call'>,
  given: Parameters<typeof invite>[1] & { overrides?: CapabilityOverrides },
): Promise<Person> {
  const { code, ...member } = await invite(api, given);
  const accepted = await api.call('POST', '/api/auth/accept-invite', {
    invite_code: code,
    password: PASSWORD,
  });
  if (accepted.status !== 200) throw new Error(`accepting was answered ${accepted.status}`);
  if (given.overrides !== undefined) {
    const url = `/api/members/${member.id}/permissions`;
    const { status } = await api.call('PUT', url, { overrides: given.overrides }, given.by);
    if (status !== 200) throw new Error(`the overrides were answered ${status}`);
  }
  const { token } = accepted.body;
  return { ...member, token, headers: { authorization: `Bearer ${token}` } };
}
