import type { Operation, Surface } from './document.ts';

export type RequestClass = 'valid' | 'boundary' | 'invalid';

export type Headers = Record<string, string | string[]>;

/** A request in parts, as long as they are still changed. */
export interface Draft {
  operation: Operation;
  method: string;
  /** By name, not encoded. */
  pathValues: Record<string, string>;
  /** What the path becomes at last, where it is broken on purpose. */
  bend?: (path: string) => string;
  /** Not encoded. */
  query: [string, string][];
  /** Put behind the query as it is. */
  rawQuery?: string;
  headers: Headers;
  /** Undefined: no body. */
  json?: unknown;
  /** Sent in place of `json`. */
  bytes?: Buffer;
}

/** A request that can be sent. */
export interface FuzzRequest {
  number: number;
  class: RequestClass;
  surface: Surface;
  /** What the document says of it; undefined where it is at an address or of a method that no document names. */
  operation?: Operation;
  method: string;
  /** With the query. */
  path: string;
  headers: Headers;
  /** The name of the credential, which is among the headers. */
  credential: string;
  json?: unknown;
  bytes?: Buffer;
  /** What was done to it; nothing for a valid one. */
  how: string[];
  /** Nobody may accept it: it cannot even be read. */
  unreadable: boolean;
}

/** The body as it is sent. */
export const bytesOf = ({ json, bytes }: Pick<Draft, 'json' | 'bytes'>): Buffer | undefined =>
  bytes ?? (json === undefined ? undefined : Buffer.from(JSON.stringify(json)));

/** The path with its values and its query. */
export function pathOf(draft: Draft): string {
  const path = draft.operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeLoosely(draft.pathValues[name] ?? ''),
  );
  const bent = draft.bend?.(path) ?? path;
  const query = draft.query.map((pair) => pair.map(encodeLoosely).join('='));
  if (draft.rawQuery !== undefined) query.push(draft.rawQuery);
  return query.length === 0 ? bent : `${bent}?${query.join('&')}`;
}

/** Lone surrogates cannot be encoded: they become the replacement character, as in a browser. */
const encodeLoosely = (text: string): string => encodeURIComponent(text.toWellFormed());
