import type { BodyOf } from '#client/index.ts';
import { type AuthDraft, authOf } from './auth-fields.tsx';
import { type HeaderDraft, headerProblem, headersOf, urlProblem } from './tool-draft.ts';

/** Where tools are imported from, as entered. */
export interface SourceDraft {
  from: 'mcp' | 'openapi';
  /** Of the MCP server. */
  url: string;
  headers: HeaderDraft[];
  /** What calls of the MCP server authenticate with. */
  auth: AuthDraft | undefined;
  /** Of the API document. A file wins. */
  documentUrl: string;
  file: File | null;
  /** The content of the file. */
  document: string;
  server: string;
  prefix: string;
}

export const newSource: SourceDraft = {
  ...{
    from: 'mcp',
    url: '',
    headers: [],
    auth: undefined,
    documentUrl: '',
    file: null,
    document: '',
  },
  ...{ server: '', prefix: '' },
};

/** A draft for an MCP server with its connection. */
export const sourceAt = (url: string, connection: string): SourceDraft => ({
  ...newSource,
  url,
  auth: { connection, as: 'bearer' },
});

/** What the fields of a source need. */
export interface SourceFields {
  draft: SourceDraft;
  onChange: (draft: SourceDraft) => void;
}

export const isReady = (draft: SourceDraft): boolean =>
  draft.from === 'mcp'
    ? draft.url !== '' &&
      urlProblem(draft.url) === undefined &&
      headerProblem(draft.headers) === undefined
    : draft.file === null
      ? draft.documentUrl !== '' && urlProblem(draft.documentUrl) === undefined
      : draft.document !== '';

export function sourceOf(draft: SourceDraft): BodyOf<'POST /api/tools/import'> {
  const prefix = draft.prefix === '' ? {} : { prefix: draft.prefix };
  if (draft.from === 'mcp') {
    const auth = authOf(draft.auth);
    return { server_url: draft.url.trim(), headers: headersOf(draft.headers), ...auth, ...prefix };
  }
  return {
    openapi: draft.file === null ? draft.documentUrl.trim() : draft.document,
    ...prefix,
    ...(draft.server.trim() === '' ? {} : { server: draft.server.trim() }),
  };
}
