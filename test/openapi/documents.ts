import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { ImportedDocument, ImportOptions } from '#shared/openapi/imported.ts';
import { readDocument } from '#shared/openapi/document.ts';
import { operationsOf } from '#shared/openapi/operations.ts';

const folder = join(import.meta.dirname, '../fixtures/openapi');

/** The text of a real document, by its file without `.br`. */
export const documentText = (file: string): string =>
  brotliDecompressSync(readFileSync(join(folder, `${file}.br`))).toString('utf8');

/** The operations of a document. Throws for one that cannot be imported. */
export function imported(document: string | object, options: ImportOptions = {}): ImportedDocument {
  const outcome = importOf(document, options);
  if ('problem' in outcome) throw new Error(outcome.problem);
  return outcome;
}

/** Like `imported`, but with the problem of a document that cannot be imported. */
export function importOf(
  document: string | object,
  options: ImportOptions = {},
): ImportedDocument | { problem: string } {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const read = readDocument(text);
  return 'problem' in read ? read : operationsOf(read.document, options);
}

/** A document of OpenAPI 3.1 with these paths. */
export const documentWith = (paths: object, rest: object = {}): object => ({
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  servers: [{ url: 'https://api.example.com/v1' }],
  paths,
  ...rest,
});
