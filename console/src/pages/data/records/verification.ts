import type { Entity } from '../../../../../client/index.ts';

/** Display texts of the verification statuses. */
export const verificationTexts: Record<Entity['verification_status'], string> = {
  unverified: 'Unverified',
  machine_verified: 'Machine',
  human_reviewed: 'Human review',
  multi_source_verified: 'Multiple sources',
};
