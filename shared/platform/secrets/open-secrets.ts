import { type Sealer, SealError } from '#shared/crypto/sealing.ts';
import { type SealedSecret, secretPlace } from '#shared/db/secrets/secrets.ts';
import type { JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import {
  fillPlaces,
  goesToHosts,
  replaceMarkers,
  referenceKey,
  replaceReferences,
  type SecretPlace,
  valueKey,
} from '#shared/values/secrets.ts';
import { type Egress, EgressError, type RequestCheck } from '#shared/platform/egress/egress.ts';
import { coversOtherOwners } from './public-suffix.ts';
import { createSecretCutter, type SecretCutter, secretsOfHeaders } from './secret-cutter.ts';

/** The stored secrets that a call needs, by name. */
type SealedSecrets = ReadonlyMap<string, SealedSecret>;

/** The access token of a connection, and the hosts that may receive it. */
export interface HeldToken {
  value: string;
  hosts: readonly string[];
}

/** The values that a call needs. */
export interface StoredValues {
  sealed: SealedSecrets;
  /** The addresses of callbacks, by the id of the node that waits. */
  addresses: ReadonlyMap<string, string>;
  /** The tokens of connections, by name. */
  tokens?: ReadonlyMap<string, HeldToken> | undefined;
}

/** The values of a step, and where its parameters contain them. */
export interface StepSecrets extends StoredValues {
  places: readonly SecretPlace[];
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
  /** What it is, for messages. */
  what: string;
  value: string;
  /** What a server may repeat of it. */
  forms: readonly string[];
  /** Undefined for an address: it can be sent to any host that the author names. */
  hosts: readonly string[] | undefined;
  occursIn: (text: string) => boolean;
}

/**
 * Opens the values with these keys, see `valueKey`. Throws a final NodeError when one is missing or cannot be opened.
 */
export function openSecrets(
  sealer: Sealer | undefined,
  { sealed, addresses, tokens }: StoredValues,
  keys: Iterable<string>,
): OpenSecrets {
  const openOne = (key: string): OpenSecret => {
    if (key.startsWith(ADDRESS)) return openAddress(addresses, key.slice(ADDRESS.length));
    if (key.startsWith(TOKEN)) return openToken(tokens, key.slice(TOKEN.length));
    return open(sealer, sealed, key);
  };
  const secrets = new Map([...new Set(keys)].map((key) => [key, openOne(key)]));
  // Only these are requested.
  const valueOf = (key: string): string => secrets.get(key)?.value ?? '';
  return {
    fill: (params, places) =>
      fillPlaces(params, places, (text, here) => fillText(text, here, valueOf)),
    fillHeaders: (headers) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [
          name,
          replaceReferences(text, (reference) => valueOf(referenceKey(reference))),
        ]),
      ),
    check: checkHosts([...secrets.values()]),
    values: [...secrets.values()].flatMap(spellings),
    cutter: (headers = {}) => cutterOf([...secrets.values()], headers),
  };
}

/** No name of a secret begins like these. */
const ADDRESS = valueKey({ name: '', depth: 0 });
const TOKEN = valueKey({ name: '', connection: true });

function openToken(tokens: StoredValues['tokens'], name: string): OpenSecret {
  const token = tokens?.get(name);
  if (token === undefined) throw noConnection(name);
  const { value, hosts } = token;
  const own = hosts.filter((host) => !coversOtherOwners(host));
  const what = `the token of the connection '${name}'`;
  return { what, value, forms: [value], hosts: own, occursIn: occursIn([value]) };
}

/** The final error for a name that no connection has. */
export const noConnection = (name: string): NodeError =>
  new NodeError(`There is no connection '${name}': create it, and resume the run`, {
    retryable: false,
  });

function openAddress(addresses: StoredValues['addresses'], name: string): OpenSecret {
  const value = addresses.get(name);
  const what = `the address of the callback '${name}'`;
  if (value === undefined) {
    throw new NodeError(`There is no ENCRYPTION_KEY for ${what}: set it, and resume the run`, {
      retryable: false,
    });
  }
  // The token alone tells the address.
  const forms = [value, value.slice(value.lastIndexOf('/') + 1)];
  return { what, value, forms, hosts: undefined, occursIn: occursIn(forms) };
}

function occursIn(forms: readonly string[]): (text: string) => boolean {
  const { text: cut } = createSecretCutter(forms);
  return (text) => cut(text) !== text;
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
    // An earlier version accepted these.
    const hosts = secret.hosts.filter((host) => !coversOtherOwners(host));
    const forms = [value];
    return { what: `the secret '${name}'`, value, forms, hosts, occursIn: occursIn(forms) };
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
  const found = new Map(places.map((place) => [place.marker, place]));
  for (const [marker, { name, depth, connection }] of found) {
    if (text.includes(marker)) continue;
    const noun = connection === true ? 'connection' : 'secret';
    const what = depth === undefined ? `${noun} '${name}'` : `callback '${name}'`;
    throw new NodeError(
      `The reference to the ${what} is no longer in its text: a policy has redacted it`,
      { retryable: false },
    );
  }
  return replaceMarkers(text, (marker) => {
    const place = found.get(marker);
    return place === undefined ? marker : valueOf(valueKey(place));
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
    for (const { what, value, hosts, occursIn } of secrets) {
      const downgraded = from?.protocol === 'https:' && url.protocol === 'http:';
      const allowed =
        hosts === undefined
          ? from === undefined || from.host === url.host
          : goesToHosts(url, hosts);
      if (!downgraded && allowed) continue;
      if (from !== undefined && !occursIn(sent()) && !namesHost(url, value)) continue;
      throw new EgressError(
        'refused',
        from === undefined
          ? `${withCapital(what)} may not be sent to '${url.host}': allow the host for it, and resume the run`
          : `'${from.host}' redirects to where ${what} may not be sent: call the final address${hosts === undefined ? '' : ', or allow its host'}`,
      );
    }
  };

const withCapital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Hosts are in lower case. */
const namesHost = ({ host }: URL, value: string): boolean => host.includes(value.toLowerCase());

/** Servers trim what they receive, and hosts are in lower case. */
const spellings = ({ forms }: OpenSecret): string[] =>
  forms.flatMap((form) => [form, form.trim(), form.toLowerCase()]);

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
      const challenge = error.challenge === undefined ? undefined : cut(error.challenge);
      const rest = { retryable, definite, kind, consumption, status, retryAfterMs, challenge };
      throw new NodeError(cut(error.message), rest);
    }
    if (error instanceof Error && cut(String(error.stack)) !== String(error.stack)) {
      throw new Error(cut(error.message));
    }
    throw error;
  }
}
