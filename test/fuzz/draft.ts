import type { Operation, Surface } from './document.ts';

export type RequestClass = 'valid' | 'boundary' | 'invalid';

export type Headers = Record<string, string | string[]>;

/** A request in parts, while it can still change. */
export interface Draft {
  operation: Operation;
  method: string;
  /** By name, not encoded. */
  pathValues: Record<string, string>;
  /** Corrupts the final path on purpose. */
  bend?: (path: string) => string;
  /** Not encoded. */
  query: [string, string][];
  /** Appended to the query unchanged. */
  rawQuery?: string;
  headers: Headers;
  /** Undefined: no body. */
  json?: unknown;
  /** Sent instead of `json`. */
  bytes?: Buffer;
}

/** A request that is ready to send. */
export interface FuzzRequest {
  number: number;
  class: RequestClass;
  surface: Surface;
  /** Its operation in the document; undefined for an undocumented address or method. */
  operation?: Operation;
  method: string;
  /** Includes the query. */
  path: string;
  headers: Headers;
  /** The name of the credential, which is in the headers. */
  credential: string;
  json?: unknown;
  bytes?: Buffer;
  /** The changes that spoil it; empty for a valid one. */
  how: string[];
  /** The request is unparsable and must be refused. */
  unreadable: boolean;
}

/** The body as sent. */
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
