/** Messages for the page of API keys. */
export const keys = {
  about: 'Credentials for programs, sent in the X-API-Key header. Only a hash is stored.',
  new: 'New API key',
  showRevoked: 'Show revoked keys',
  empty: {
    title: 'No API keys yet',
    about:
      'With an API key, a program starts runs and reads results with the permissions of its role.',
    create: 'Create API key',
  },
  prefix: 'Prefix',
  actor: 'Acts as',
  lastUsed: 'Last used',
  never: 'never',
  isRevoked: 'Revoked',
  noDecisions: 'Without decisions',
  revoke: 'Revoke',
  revokeKey: (name: string) => `Revoke ${name}`,
  revoked: 'API key revoked',
  confirmRevoke: {
    title: 'Revoke this API key?',
    consequence: 'Requests with {name} will fail immediately. You cannot undo this.',
    confirm: 'Revoke key',
  },
} as const;

/** Messages for the form of an API key. */
export const keyForm = {
  create: 'Create key',
  aboutName: 'The program that will use this key',
  aboutMember:
    'The key always has the permissions of its member and is revoked when the member is removed.',
  decide: 'Can decide gates and publish workflows',
  aboutDecide:
    'Clear this for a program that is controlled by a model: it starts runs, and people decide.',
  noMember: 'None (use a role instead)',
  clearMember: 'Clear member',
  created: (name: string) => `API key for ${name}`,
} as const;
