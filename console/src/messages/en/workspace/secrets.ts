import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of secrets. */
export const secrets = {
  title: 'Secrets',
  about:
    'Values that workflows send to allowed hosts, as {secrets.NAME}. No one can read them here.',
  new: 'New secret',
  empty: {
    title: 'No secrets yet',
    about:
      'A secret is a password or token that workflows send in headers, query and body of requests, without any person or model reading it.',
    create: 'Create secret',
  },
  table: 'Secrets',
  allowedHosts: 'Allowed hosts',
  updated: 'Updated',
  lastUsed: 'Last used',
  actions: 'Actions',
  never: 'never',
  replace: 'Replace',
  replaceSecret: (name: string) => `Replace ${name}`,
  deleteSecret: (name: string) => `Delete ${name}`,
  deleted: 'Secret deleted',
  confirmDelete: {
    title: 'Delete this secret?',
    consequence: 'Steps that send {name} will fail. You cannot undo this.',
    confirm: 'Delete secret',
  },
} as const;

/** Messages for the form of a secret. */
export const secretForm = {
  created: 'Secret created',
  replaced: 'Secret replaced',
  create: 'Create secret',
  replace: 'Replace secret',
  aboutName: 'Capital letters, digits and _. Workflows refer to it as {secrets.NAME}.',
  aboutValue: 'At least 8 characters. It is never shown again.',
  wrongName: 'Use capital letters, digits and _, and start with a letter, like CRM_API_KEY',
  shortValue: (least: number) =>
    plural(least, { one: 'At least # character', other: 'At least # characters' }),
  allowedHosts: 'Allowed hosts',
  aboutAllowedHosts: 'The only hosts that receive the value. Press Enter after each.',
} as const;
