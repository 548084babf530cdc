import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '#shared/errors.ts';
import type {
  ImportedDocument,
  ImportedOperation,
  ImportOptions,
} from '#shared/openapi/imported.ts';
import { documentThreads, WorkLimitError } from './threads.ts';

/** An operation with the digest of its `pinnedParts`. */
export type DigestedOperation = ImportedOperation & { digest: string };
export type DigestedDocument = Omit<ImportedDocument, 'operations'> & {
  operations: DigestedOperation[];
};

/** Characters that are parsed before other work gets its turn: 2 ms. */
const PER_TURN = 200_000;

/**
 * The operations of an OpenAPI document as tools; see `operationsOf`. Throws AppError `invalid` for a text that is no such
 * document or takes too long, WorkBusyError when documents of the workspace are already waiting, and the signal's reason on
 * abort.
 */
export async function operationsUntrusted(
  workspaceId: string,
  text: string,
  options: ImportOptions = {},
  signal?: AbortSignal,
): Promise<DigestedDocument> {
  const outcome = await documentThreads
    .run(workspaceId, 'openapi', { text, options }, signal === undefined ? {} : { signal })
    .catch((error: unknown) => {
      if (!(error instanceof WorkLimitError)) throw error;
      throw new AppError('invalid', `The document cannot be imported: ${error.message}`);
    });
  if ('problem' in outcome) throw new AppError('invalid', outcome.problem);
  const operations: DigestedOperation[] = [];
  let parsed = 0;
  for (const each of outcome.operations) {
    operations.push(JSON.parse(each) as DigestedOperation);
    parsed += each.length;
    if (parsed < PER_TURN) continue;
    parsed = 0;
    await nextTurn();
  }
  return { ...outcome.document, operations };
}
