import type { Role } from '#client/index.ts';

/** Roles to choose from, fewest capabilities first. */
export const roleTexts = {
  viewer: 'Viewer: can view everything, cannot change anything',
  editor: 'Editor: can build, run and approve workflows',
  admin: 'Admin: can do everything, including managing members and budgets',
} as const satisfies Record<Role, string>;
