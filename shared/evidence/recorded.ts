import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';

/** How the policies mark what they have redacted. */
export const REDACTED = '[REDACTED:';

/** Whether a recorded value is the record of the value that was sent: equal, except for what the policies redacted. */
export function isRecordOf(recorded: Json, sent: Json): boolean {
  if (typeof recorded === 'string' && recorded.includes(REDACTED)) return true;
  if (Array.isArray(recorded)) {
    if (!Array.isArray(sent) || sent.length !== recorded.length) return false;
    return recorded.every((item, index) => isRecordOf(item, sent[index] ?? null));
  }
  if (recorded === null || typeof recorded !== 'object') {
    return canonicalJson(recorded) === canonicalJson(sent);
  }
  if (sent === null || typeof sent !== 'object' || Array.isArray(sent)) return false;
  const keys = Object.keys(recorded);
  if (keys.length !== Object.keys(sent).length) return keys.some((key) => key.includes(REDACTED));
  return keys.every((key) =>
    Object.hasOwn(sent, key) ? isRecordOf(recorded[key]!, sent[key]!) : key.includes(REDACTED),
  );
}
