import type { Entity } from '../../../../client/index.ts';

/** How far a record or an event was looked into, in words. */
export const verificationTexts: Record<Entity['verification_status'], string> = {
  unverified: 'unverified',
  machine_verified: 'by machine',
  human_reviewed: 'by a person',
  multi_source_verified: 'by several sources',
};
