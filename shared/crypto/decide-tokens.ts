import { createHash, createHmac } from 'node:crypto';
import { deriveKey, type SealingKeys } from './sealing.ts';

/** The email whose link a token is for: what sends it, its recipient, and the opening of the gate. */
interface MailedGate {
  alert: string;
  memberId: string;
  runId: string;
  stepKey: string;
  round: number;
  /** As the database writes it. */
  openedAt: string;
}

/** How many bytes of the HMAC a token has. */
const MAC_BYTES = 32;

/** The token of a link. It is derived, so another attempt to send the email has the same one, and none is stored. */
export type DecideTokenOf = (mailed: MailedGate) => string;

/** Undefined without a key: then there are no links. */
export function createDecideTokens({
  encryptionKey,
}: Pick<SealingKeys, 'encryptionKey'>): DecideTokenOf | undefined {
  if (encryptionKey === undefined) return undefined;
  const key = deriveKey(encryptionKey, 'decide links', MAC_BYTES);
  return ({ alert, memberId, runId, stepKey, round, openedAt }) => {
    const mailed = JSON.stringify([alert, memberId, runId, stepKey, round, openedAt]);
    return createHmac('sha256', key).update(mailed, 'utf8').digest('base64url');
  };
}

/** What is stored of a token. */
export const decideTokenHash = (token: string): Buffer =>
  createHash('sha256').update(token, 'utf8').digest();
