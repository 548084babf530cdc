import type { Actor } from '#shared/people/actor.ts';
import { endpointUrl } from '#shared/contract/tools/custom-tool.ts';
import { MAX_API_DOCUMENT, MAX_OPERATIONS } from '#shared/contract/tools/tool-import.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import type { ImportOptions } from '#shared/openapi/imported.ts';
import { type Egress, EgressError } from '#shared/platform/egress/egress.ts';
import { type DigestedDocument, operationsUntrusted } from '#shared/platform/threads/documents.ts';

/** Documents that a document can refer to, and in how many steps. */
const MAX_DOCUMENTS = 20;
const MAX_ROUNDS = 4;
const MAX_REDIRECTS = 5;

/** An API document as it was given: its URL, its text, or itself. */
export type GivenDocument = string | JsonObject;

/** The URL if that was given; null for the document itself. */
export const urlOf = (given: GivenDocument): string | null =>
  typeof given === 'string' && /^\s*https?:\/\/\S+\s*$/i.test(given) ? given.trim() : null;

/**
 * What an API document describes, with the documents that it refers to. All of them together have at most 20 MB. They
 * are read through the egress guard, without credentials, and parsed on another thread. Throws AppError `invalid` when
 * one cannot be read, and when it is not an API document.
 */
export async function readApiDocument(
  egress: Egress,
  { workspaceId }: Actor,
  given: GivenDocument,
  options: Pick<ImportOptions, 'operations' | 'prefix' | 'server' | 'limit'>,
  timeoutMs: number,
): Promise<DigestedDocument> {
  const until = performance.now() + timeoutMs;
  const reader = createReader(egress, until);
  const { text, documentUrl } = await documentOf(reader, given);
  const documents = new Map<string, string>();
  for (let round = 1; ; round += 1) {
    const signal = AbortSignal.timeout(leftUntil(until));
    const given = { limit: MAX_OPERATIONS, ...options, documentUrl, documents };
    const document = await operationsUntrusted(workspaceId, text, given, signal).catch(
      (error: unknown) => {
        if (!signal.aborted) throw error;
        throw invalid('The API document cannot be read in time: send it, or choose operations');
      },
    );
    const missing = document.missing.slice(0, MAX_DOCUMENTS - documents.size);
    if (missing.length === 0 || round === MAX_ROUNDS) return document;
    for (const url of missing) documents.set(url, (await reader.read(url)).text);
  }
}

async function documentOf(
  reader: Reader,
  given: GivenDocument,
): Promise<{ text: string; documentUrl?: string }> {
  const url = urlOf(given);
  if (url !== null) return reader.read(url);
  return { text: typeof given === 'string' ? given : JSON.stringify(given) };
}

interface Reader {
  read: (url: string) => Promise<{ text: string; documentUrl: string }>;
}

/** Reads documents until this time (ms of `performance.now`), at most 20 MB in total. */
function createReader(egress: Egress, until: number): Reader {
  let left = MAX_API_DOCUMENT;
  return {
    read: async (url) => {
      const parsed = endpointUrl.safeParse(url);
      if (!parsed.success) {
        throw invalid(`The URL of an API document ${parsed.error.issues[0]?.message}`);
      }
      try {
        const answer = await egress.request(url, {
          headers: { Accept: 'application/json, application/yaml;q=0.9, */*;q=0.8' },
          timeoutMs: leftUntil(until),
          maxResponseBytes: left,
          maxRedirects: MAX_REDIRECTS,
        });
        if (answer.status !== 200) {
          throw invalid(
            `The API document cannot be read: ${hostOf(url)} answered ${answer.status}`,
          );
        }
        left -= answer.body.length;
        return { text: new TextDecoder().decode(answer.body), documentUrl: answer.url };
      } catch (error) {
        if (!(error instanceof EgressError)) throw error;
        throw invalid(`The API document cannot be read: ${error.message}`);
      }
    },
  };
}

/** In whole ms, at least 1. */
const leftUntil = (until: number): number => Math.max(1, Math.ceil(until - performance.now()));

const hostOf = (url: string): string => URL.parse(url)?.host ?? url;

const invalid = (message: string): AppError => new AppError('invalid', message);
