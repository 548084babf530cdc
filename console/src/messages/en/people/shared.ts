/** Words that several pages of members and API keys share. */
export const people = {
  actions: 'Actions',
  apiKeys: 'API keys',
  email: 'Email',
  permissions: 'Permissions',
  profile: 'Profile',
  role: 'Role',
} as const;
