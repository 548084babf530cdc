import { z } from 'zod';
import { type IngestRecord, ingestRecord } from '#shared/contract/data/ingest.ts';
import type { BatchOutcome } from '#shared/db/data/ingest-plan.ts';
import { ingestBatch } from '#shared/db/data/ingest.ts';
import type { Pool } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { NodeError } from '#activities/nodes/node.ts';
import { parseParams, storable } from './params.ts';

const target = z.looseObject({ feed_id: z.string().min(1).max(200) });

/** A tool's parameters as a record, and its feed. Null counts as absent. Throws a final NodeError. */
export function parseRecord(
  tool: string,
  type: IngestRecord['type'],
  params: JsonObject,
): { feedId: string; record: IngestRecord } {
  const { feed_id: feedId, ...fields } = parseParams(tool, target, storable(params));
  if (Object.hasOwn(fields, 'type')) {
    throw new NodeError(`${tool}: 'type' is not a parameter`, { retryable: false });
  }
  const record = parseParams(tool, ingestRecord, { ...fields, type } as JsonObject);
  return { feedId, record };
}

/** What the tools that change data use. `onChange`: called after a change of the workspace was committed. */
export interface RecordDeps {
  db: Pool;
  onChange: (workspaceId: string) => Promise<void>;
}

/** Writes one record. Writing it again changes nothing, so a step can be retried any number of times. */
export async function keepRecord(
  tool: string,
  { db, onChange }: RecordDeps,
  { workspaceId, runId }: { workspaceId: string; runId: string },
  { feedId, record }: { feedId: string; record: IngestRecord },
): Promise<{ feed_id: string; external_key: string; result: 'created' | 'updated' | 'unchanged' }> {
  const outcome = await db
    .transaction((tx) => ingestBatch(tx, { workspaceId, feedId, runId }, [{ line: 1, record }]))
    .catch((error: unknown) => {
      throw asNodeError(tool, error);
    });
  await onChange(workspaceId);
  const [refusal] = outcome.refusals;
  if (refusal !== undefined) {
    throw new NodeError(`${tool}: ${refusal.reason}`, { retryable: false });
  }
  return { feed_id: feedId, external_key: record.external_key, result: resultOf(outcome, record) };
}

/** An AppError is an error of the node; other errors are not. */
export const asNodeError = (tool: string, error: unknown): unknown =>
  error instanceof AppError
    ? new NodeError(`${tool}: ${error.message}`, { retryable: false, cause: error })
    : error;

function resultOf(outcome: BatchOutcome, record: IngestRecord) {
  const counts = record.type === 'entity' ? outcome : outcome.events;
  if (counts.created > 0) return 'created';
  return counts.updated > 0 ? 'updated' : 'unchanged';
}
