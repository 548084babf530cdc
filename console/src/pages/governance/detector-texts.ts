import type { DetectorName } from './policy-draft.ts';

/** What each detector takes out, in the words of the form. */
export const detectorTexts = {
  email: { label: 'E-mail addresses', finds: 'Addresses with a top-level domain, also with %40.' },
  phone: {
    label: 'Phone numbers',
    finds:
      'International, North American and grouped national ones, and digits called a phone number.',
  },
  credit_card: { label: 'Payment cards', finds: 'By issuer, length, grouping and check digit.' },
  ssn: {
    label: 'US social security numbers',
    finds: 'In groups, or nine digits called so, of areas that are given out.',
  },
  iban: { label: 'Bank accounts (IBAN)', finds: 'By country, its length and the check digits.' },
  ip: { label: 'IP addresses', finds: 'IPv4 and IPv6; not what is called a version.' },
  api_key: {
    label: 'Keys and secrets',
    finds:
      'Keys by their usual beginnings, web tokens, private keys, and values called key, token, secret or password.',
  },
} as const satisfies Record<DetectorName, { label: string; finds: string }>;

export const detectorNames = Object.keys(detectorTexts) as DetectorName[];
