import { type Sealer, SealError } from '#shared/crypto/sealing.ts';
import { type SealedSecret, secretPlace } from '#shared/db/secrets/secrets.ts';
import type { JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import {
  fillPlaces,
  goesToHosts,
  replaceReferences,
  type SecretPlace,
} from '#shared/values/secrets.ts';
import { type Egress, EgressError, type RequestCheck } from '#shared/platform/egress/egress.ts';
import { coversOtherOwners } from './public-suffix.ts';
import { createSecretCutter, type SecretCutter, secretsOfHeaders } from './secret-cutter.ts';

/** The stored secrets that a call needs, by name. */
export type SealedSecrets = ReadonlyMap<string, SealedSecret>;

/** The secrets of a step, and where its parameters contain them. */
export interface StepSecrets {
  places: readonly SecretPlace[];
  sealed: SealedSecrets;
}

/**
 * The values for one call. They are opened immediately before it is sent, and everything that comes back is redacted by
 * `cutter`.
 */
export interface OpenSecrets {
  /** Throws NodeError when a text has lost its reference, for example to a redaction. */
  fill: (params: JsonObject, places: readonly SecretPlace[]) => JsonObject;
  /** Like `fill`, for the references in a custom tool's headers. */
  fillHeaders: (headers: Readonly<Record<string, string>>) => Record<string, string>;
  /** Refuses requests that would send a value to a host that is not allowed. */
  check: RequestCheck;
  /** In the forms in which they may come back. */
  values: readonly string[];
  /** Redacts the values, and the credentials in these headers. */
  cutter: (headers?: Readonly<Record<string, string>>) => SecretCutter;
}

interface OpenSecret {
  name: string;
  value: string;
  hosts: readonly string[];
  occursIn: (text: string) => boolean;
}

/** Opens the secrets with these names. Throws a final NodeError when one is missing or cannot be opened. */
export function openSecrets(
  sealer: Sealer | undefined,
  sealed: SealedSecrets,
  names: Iterable<string>,
): OpenSecrets {
  const secrets = new Map([...new Set(names)].map((name) => [name, open(sealer, sealed, name)]));
  // Only these names are requested.
  const valueOf = (name: string): string => secrets.get(name)?.value ?? '';
  return {
    fill: (params, places) =>
      fillPlaces(params, places, (text, here) => fillText(text, here, valueOf)),
    fillHeaders: (headers) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [
          name,
          replaceReferences(text, (_written, it) => valueOf(it)),
        ]),
      ),
    check: checkHosts([...secrets.values()]),
    values: [...secrets.values()].flatMap(spellings),
    cutter: (headers = {}) => cutterOf([...secrets.values()], headers),
  };
}

function open(sealer: Sealer | undefined, sealed: SealedSecrets, name: string): OpenSecret {
  const secret = sealed.get(name);
  if (secret === undefined) {
    throw new NodeError(`There is no secret '${name}': create it, and resume the run`, {
      retryable: false,
    });
  }
  try {
    if (sealer === undefined) throw new SealError('There is no key');
    const value = sealer.open(secret.sealed, secretPlace(secret));
    const { text: cut } = createSecretCutter([value]);
    // An earlier version accepted these.
    const hosts = secret.hosts.filter((host) => !coversOtherOwners(host));
    return { name, value, hosts, occursIn: (text) => cut(text) !== text };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new NodeError(
      `The secret '${name}' cannot be opened with the current ENCRYPTION_KEY; save it again`,
      { retryable: false },
    );
  }
}

/** In one pass, so that a value that looks like a marker is left unchanged. */
function fillText(
  text: string,
  places: readonly SecretPlace[],
  valueOf: (name: string) => string,
): string {
  const names = new Map(places.map(({ marker, name }) => [marker, name]));
  for (const [marker, name] of names) {
    if (text.includes(marker)) continue;
    throw new NodeError(
      `The reference to the secret '${name}' is no longer in its text: a policy has redacted it`,
      { retryable: false },
    );
  }
  return replaceReferences(text, (marker) => {
    const name = names.get(marker);
    return name === undefined ? marker : valueOf(name);
  });
}

/**
 * The first request must go to a host that all secrets allow. A redirected request is checked for the secrets it still
 * contains, including in its URL, because servers repeat the query of a request in the address of a redirect.
 */
const checkHosts =
  (secrets: readonly OpenSecret[]): RequestCheck =>
  ({ url, headers, body }, from) => {
    const sent = (): string =>
      [url.href, ...Object.values(headers), ...(body === undefined ? [] : [String(body)])].join(
        '\n',
      );
    for (const { name, value, hosts, occursIn } of secrets) {
      const downgraded = from?.protocol === 'https:' && url.protocol === 'http:';
      if (!downgraded && goesToHosts(url, hosts)) continue;
      if (from !== undefined && !occursIn(sent()) && !namesHost(url, value)) continue;
      throw new EgressError(
        'refused',
        from === undefined
          ? `The secret '${name}' may not be sent to '${url.host}': allow the host for it, and resume the run`
          : `'${from.host}' redirects to where the secret '${name}' may not be sent: call the final address, or allow its host`,
      );
    }
  };

/** Hosts are in lower case. */
const namesHost = ({ host }: URL, value: string): boolean => host.includes(value.toLowerCase());

/** Servers trim what they receive, and hosts are in lower case. */
const spellings = ({ value }: OpenSecret): string[] => [value, value.trim(), value.toLowerCase()];

const cutterOf = (
  secrets: readonly OpenSecret[],
  headers: Readonly<Record<string, string>>,
): SecretCutter => {
  const within = Object.fromEntries(
    Object.entries(headers).filter(([, text]) => secrets.some(({ value }) => text.includes(value))),
  );
  return createSecretCutter([...secrets.flatMap(spellings), ...secretsOfHeaders(within)]);
};

/** An egress that checks every request, for clients that send their own. */
export const checkedEgress = (egress: Egress, check: RequestCheck): Egress => ({
  ...egress,
  fetch: async (input, init) => {
    const target = new URL(input instanceof Request ? input.url : String(input));
    await check({ url: target, headers: {}, body: undefined });
    return egress.fetch(input, init);
  },
});

/**
 * Makes a call with secrets. No error that it throws contains a value: messages are redacted, and causes, which the
 * service logs, are omitted.
 */
export async function withoutSecrets<T>(
  { text: cut }: SecretCutter,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NodeError) {
      const { retryable, definite, kind, consumption, status, retryAfterMs } = error;
      const rest = { retryable, definite, kind, consumption, status, retryAfterMs };
      throw new NodeError(cut(error.message), rest);
    }
    if (error instanceof Error && cut(String(error.stack)) !== String(error.stack)) {
      throw new Error(cut(error.message));
    }
    throw error;
  }
}
