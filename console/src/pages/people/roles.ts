import type { Member, Role } from '../../../../client/index.ts';

const roleTexts = {
  viewer: 'Viewer: can view everything, cannot change anything',
  editor: 'Editor: can build, run and approve workflows',
  admin: 'Admin: can do everything, including managing members and budgets',
} as const satisfies Record<Role, string>;

/** Options of a select, fewest capabilities first. */
export const roleOptions = Object.entries(roleTexts).map(([value, label]) => ({
  value: value as Role,
  label,
}));

export const statusColours = {
  active: 'teal',
  invited: 'blue',
  pending: 'yellow',
} as const satisfies Record<Member['status'], string>;
