import { HEADER_MASK } from '#shared/contract/tools/custom-tool.ts';
import {
  type CustomTool,
  type CustomToolScope,
  headerContext,
} from '#shared/db/tools/custom-tools.ts';
import { AppError } from '#shared/errors.ts';
import { checkUserHeaders, EgressError } from '#shared/platform/egress/egress.ts';
import type { Sealer } from '#shared/crypto/sealing.ts';

export const invalid = (problem: string): AppError =>
  new AppError('invalid', `Invalid body: ${problem}`);

/**
 * A header's value belongs to one origin (scheme, host and port). A caller who can change a tool but not read its
 * headers must not be able to send a value to another server. Throws AppError `invalid`, naming the headers.
 */
export function keepHeadersAtOrigin(
  before: CustomTool,
  endpointUrl: string,
  given: Readonly<Record<string, string>> | undefined,
): void {
  const origin = URL.parse(before.endpoint_url)?.origin ?? '';
  const target = URL.parse(endpointUrl)?.origin ?? '';
  if (target === origin) return;
  const kept = Object.entries(given ?? before.headers)
    .filter(([, value]) => given === undefined || value === HEADER_MASK)
    .map(([name]) => name);
  if (kept.length === 0) return;
  throw invalid(
    `headers: the values of ${kept.join(', ')} were given for ${origin}; send them again in full to move ` +
      `endpoint_url to ${target}, or leave them out`,
  );
}

/**
 * The sealed headers. A masked header keeps its value from `kept`, the existing headers. Throws AppError `invalid` for
 * headers that cannot be stored or sent.
 */
export function sealHeaders(
  sealer: Sealer | undefined,
  scope: CustomToolScope,
  headers: Readonly<Record<string, string>>,
  kept: Readonly<Record<string, string>>,
): Record<string, string> {
  checkHeaders(headers);
  const keptByName = new Map(
    Object.entries(kept).map(([name, sealed]) => [name.toLowerCase(), sealed]),
  );
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (value !== HEADER_MASK) return [name, seal(sealer, value, headerContext(scope, name))];
      const sealed = keptByName.get(name.toLowerCase());
      if (sealed === undefined) throw invalid(`headers.${name} has no stored value`);
      return [name, sealed];
    }),
  );
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const ours = Object.keys(headers).find((name) => name.toLowerCase() === 'idempotency-key');
  if (ours !== undefined) {
    throw invalid(`headers.${ours} is set by the service for each step`);
  }
  try {
    checkUserHeaders(headers);
  } catch (error) {
    if (error instanceof EgressError) throw invalid(`headers: ${error.message}`);
    throw error;
  }
}

function seal(sealer: Sealer | undefined, value: string, place: string): string {
  if (sealer !== undefined) return sealer.seal(value, place);
  throw invalid('headers cannot be stored, since ENCRYPTION_KEY is not set on this service');
}
