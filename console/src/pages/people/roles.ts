import type { Member, Role } from '#client/index.ts';
import { roleTexts } from '#console/src/messages/en/people/roles.ts';

/** Options of a select, fewest capabilities first. */
export const roleOptions = Object.entries(roleTexts).map(([value, label]) => ({
  value: value as Role,
  label,
}));

export const statusColours = {
  active: 'success',
  invited: 'info',
  pending: 'warning',
} as const satisfies Record<Member['status'], string>;
