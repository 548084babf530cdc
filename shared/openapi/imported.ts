import type { customToolMethods } from '#shared/contract/tools/custom-tool.ts';
import type { RequestMapping } from '#shared/contract/tools/request-mapping.ts';
import type { Json, JsonObject } from '#shared/json.ts';

export type OperationMethod = (typeof customToolMethods)[number];

/** An operation of a document as a tool. Everything can be stored in Postgres. */
export interface ImportedOperation {
  /** What selects it: its `operationId`, or `GET /pets` when it has none or shares it. */
  operation: string;
  method: OperationMethod;
  /** As in the document. */
  path: string;
  /** Of the tool, unique in the import. */
  name: string;
  /** At most 200 characters. */
  label: string;
  /** At most 1,000 characters. */
  description: string;
  /** GET and HEAD. */
  read_only: boolean;
  deprecated: boolean;
  /** Of the arguments. At most 65,536 characters as JSON. */
  input_schema: JsonObject;
  /** Of the first successful response in JSON, shortened to 16,384 characters; null when there is none. */
  response_schema: JsonObject | null;
  request: RequestMapping;
}

/** What a tool is pinned to: another server, path, mapping or schema is another call. Its credentials are not in it. */
export const pinnedParts = ({ method, request, input_schema }: ImportedOperation): Json =>
  ({ method, request, input_schema }) as unknown as Json;

/** What a document says about credentials. */
export interface SecurityScheme {
  name: string;
  /** `http`, `apiKey`, `oauth2`, `openIdConnect` or `mutualTLS`. */
  type: string;
  /** Of type `http`: `bearer`, `basic` and others. */
  scheme?: string;
  /** Of type `apiKey`. */
  in?: 'query' | 'header' | 'cookie';
  parameter?: string;
}

export interface SkippedOperation {
  operation: string;
  reason: string;
}

export interface ImportedDocument {
  title: string;
  version: string;
  /** Absolute URLs of the document's own servers. The first counts, unless `server` was given. */
  servers: string[];
  security_schemes: SecurityScheme[];
  operations: ImportedOperation[];
  skipped: SkippedOperation[];
  /** How many operations the document has beyond `limit`. */
  beyond_limit: number;
  /** URLs of other documents that these operations refer to, and that were not given. */
  missing: string[];
}

/** What to import from a document. */
export interface ImportOptions {
  /** `operationId`s or `GET /pets`. Default: all, up to `limit`. */
  operations?: readonly string[];
  /** What the names of the tools begin with. */
  prefix?: string;
  /** Replaces the document's servers. May be relative to `documentUrl`. */
  server?: string;
  documentUrl?: string;
  limit?: number;
  /** Texts of documents that this one refers to, by URL without fragment. */
  documents?: ReadonlyMap<string, string>;
}
