import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey, type SealingKeys } from './sealing.ts';

/** The step whose wait a token ends. */
export interface CallbackStep {
  runId: string;
  stepKey: string;
}

/**
 * Tokens of steps that wait for a callback. They are derived, so the same step always has the same one,
 * and none is stored.
 */
export interface CallbackTokens {
  tokenOf: (step: CallbackStep) => string;
  /** The step of a token that this service has derived with its key, or with the previous one; undefined for any other. */
  stepOf: (token: string) => CallbackStep | undefined;
}

/** How many bytes of the HMAC a token has. */
const MAC_BYTES = 32;
/** Base64url without padding, one spelling for each value: the step, then the HMAC. */
const TOKEN = /^([A-Za-z0-9_-]{1,700})\.([A-Za-z0-9_-]{43})$/;

/** Undefined without a key: then there are no addresses. */
export function createCallbackTokens({
  encryptionKey,
  previousEncryptionKey,
}: SealingKeys): CallbackTokens | undefined {
  if (encryptionKey === undefined) return undefined;
  const current = deriveKey(encryptionKey, 'callbacks', MAC_BYTES);
  const keys = [
    current,
    ...(previousEncryptionKey === undefined
      ? []
      : [deriveKey(previousEncryptionKey, 'callbacks', MAC_BYTES)]),
  ];
  return {
    tokenOf: ({ runId, stepKey }) => {
      const step = Buffer.from(`${runId} ${stepKey}`, 'utf8').toString('base64url');
      return `${step}.${macOf(current, step).toString('base64url')}`;
    },
    stepOf: (token) => {
      const [, step = '', mac = ''] = TOKEN.exec(token) ?? [];
      if (step === '') return undefined;
      const given = Buffer.from(mac, 'base64url');
      // Another spelling of the same bytes would be another address of the step.
      if (given.toString('base64url') !== mac) return undefined;
      const known = keys.map((key) => timingSafeEqual(macOf(key, step), given));
      if (!known.includes(true)) return undefined;
      const [runId = '', ...rest] = Buffer.from(step, 'base64url').toString('utf8').split(' ');
      return { runId, stepKey: rest.join(' ') };
    },
  };
}

const macOf = (key: Buffer, step: string): Buffer =>
  createHmac('sha256', key).update(step, 'utf8').digest();
