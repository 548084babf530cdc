import { type CallToApprove, callContent } from '#shared/evidence/bound-content.ts';
import { jsonDigest } from './json-digest.ts';

/** The digest by which a decision names a tool call. */
export const callDigest = (call: CallToApprove): string => jsonDigest(callContent(call));
