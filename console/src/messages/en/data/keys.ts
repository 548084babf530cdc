import type { DataKey } from '#client/index.ts';

/** Messages for the page of data keys. */
export const dataKeys = {
  title: 'Data keys',
  about:
    'Credentials for the data API under /v1. API keys do not work there, and data keys work nowhere else.',
  new: 'New data key',
  list: 'Keys',
  showRevoked: 'Show revoked',
  empty: {
    title: 'No data keys yet',
    about:
      'With a data key, a program reads the records of your feeds: a live key reads live data, a test key demo data.',
    create: 'Create data key',
  },
} as const;

/** Messages for the table of data keys. */
export const dataKeyTable = {
  label: 'Data keys',
  key: 'Key',
  scopes: 'Scopes',
  requests: 'Requests this month',
  credits: 'Credits this month',
  lastUsed: 'Last used',
  modes: {
    live: 'Live',
    test: 'Test',
  } satisfies Record<DataKey['mode'], string>,
  neverUsed: 'Never',
  usedOf: (used: string, allowance: string) => `${used} of ${allowance}`,
  expired: 'Expired {time}',
  expires: 'Expires {time}',
  from: (addresses: string) => `From ${addresses}`,
  revoke: 'Revoke',
  revokeKey: (name: string) => `Revoke ${name}`,
  isRevoked: 'Revoked',
  revoked: 'Data key revoked',
  confirmRevoke: {
    title: 'Revoke this data key?',
    consequence: 'Requests with {name} will fail immediately. You cannot undo this.',
    confirm: 'Revoke key',
  },
} as const;

/** Messages for the usage of the data API. */
export const dataUsage = {
  title: 'This month',
  requests: { name: 'Requests', used: 'Requests used' },
  credits: { name: 'Credits', used: 'Credits used' },
  unlimited: (used: string) => `${used} (unlimited)`,
  limited: (used: string, limit: string, percent: string) => `${used} of ${limit} (${percent})`,
  plan: 'Plan',
  billedRows: 'Billed rows',
  webhookDeliveries: 'Webhook deliveries',
  sourceChecks: 'Source checks',
  resets: 'Resets',
} as const;

/** Messages for the form of a data key. */
export const dataKeyForm = {
  title: 'New data key',
  submit: 'Create key',
  secretTitle: (name: string) => `Data key for ${name}`,
  nameAbout: 'The person or program that will use this key.',
  live: 'Live: reads live data',
  test: 'Test: reads demo data',
  scopes: 'Scopes',
  scopesAbout: 'The key can only do what you select here.',
  scopeAbout: {
    'feeds:read': 'Read feeds and their specifications',
    'entities:read': 'Read records and their changes',
    'events:read': 'Read intelligence events',
    'sources:read': 'Read sources and their health',
    'usage:read': 'Read monthly usage and allowances',
    'exports:create': 'Create exports',
    'webhooks:read': 'Read webhook endpoints',
    'webhooks:write': 'Create, change and delete webhook endpoints',
  } satisfies Record<DataKey['scopes'][number], string>,
  requests: 'Requests per month',
  credits: 'Credits per month',
  allowanceAbout: 'Leave empty to use the plan limit.',
  expires: 'Expires',
  expiresAbout: 'The key stops working at this time. Leave empty for no expiry.',
  addresses: 'Allowed IP addresses',
  addressesAbout:
    'IP addresses and CIDR ranges that can use the key. Leave empty to allow any. Press Enter after each.',
} as const;
