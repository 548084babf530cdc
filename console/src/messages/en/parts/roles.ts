import type { Role } from '#client/index.ts';

/** Names of the roles, on their own. */
export const roleNames = {
  viewer: 'Viewer',
  editor: 'Editor',
  admin: 'Admin',
} as const satisfies Record<Role, string>;

/** Names of the roles within a text. */
export const roleNamesInText = {
  viewer: 'viewer',
  editor: 'editor',
  admin: 'admin',
} as const satisfies Record<Role, string>;
