import { type CallOptions, headerValue } from './request.ts';

export interface TriggerOptions extends CallOptions {
  /** Requests with the same key and content act once, and get the same answer. Default: a new key for each call. */
  idempotencyKey?: string;
}

/** The header and the other options of a request that acts once per key, so that it can be retried. */
export function onceOf({ idempotencyKey = newKey(), ...options }: TriggerOptions = {}) {
  return {
    headers: { 'Idempotency-Key': headerValue('idempotencyKey', idempotencyKey) },
    options,
  };
}

/** 128 random bits. `crypto.randomUUID` is missing on pages served over plain HTTP. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
