import type { DetectorName } from './policy-draft.ts';

/** Form texts about what each detector redacts. */
export const detectorTexts = {
  email: {
    label: 'Email addresses',
    finds: 'Addresses with a top-level domain, including %40 instead of @.',
  },
  phone: {
    label: 'Phone numbers',
    finds:
      'International, North American and grouped national numbers, and digits labeled as a phone number.',
  },
  credit_card: {
    label: 'Payment cards',
    finds: 'Matched by issuer, length, grouping and check digit.',
  },
  ssn: {
    label: 'US social security numbers',
    finds: 'Grouped numbers, or nine digits labeled as an SSN, with an assigned area number.',
  },
  iban: { label: 'Bank accounts (IBAN)', finds: 'Matched by country, length and check digits.' },
  ip: { label: 'IP addresses', finds: 'IPv4 and IPv6. Version numbers are ignored.' },
  api_key: {
    label: 'Keys and secrets',
    finds:
      'Keys with known prefixes, web tokens, private keys, and values labeled key, token, secret or password.',
  },
} as const satisfies Record<DetectorName, { label: string; finds: string }>;

export const detectorNames = Object.keys(detectorTexts) as DetectorName[];
