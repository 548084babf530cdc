import type { Member, Role } from '../../../../client/index.ts';

export const roleTexts = {
  viewer: 'Viewer: sees everything, changes nothing',
  editor: 'Editor: builds, runs and approves workflows',
  admin: 'Admin: everything, members and money too',
} as const satisfies Record<Role, string>;

/** For a select, the least first. */
export const roleOptions = Object.entries(roleTexts).map(([value, label]) => ({
  value: value as Role,
  label,
}));

export const statusColours = {
  active: 'teal',
  invited: 'blue',
  pending: 'yellow',
} as const satisfies Record<Member['status'], string>;
