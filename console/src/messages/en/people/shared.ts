/** Words that several pages of members and API keys share. */
export const people = {
  apiKeys: 'API keys',
  permissions: 'Permissions',
  profile: 'Profile',
  role: 'Role',
} as const;
