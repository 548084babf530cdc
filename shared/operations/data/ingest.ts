import type { Actor } from '#shared/people/actor.ts';
import {
  type IngestAnswer,
  type IngestRecord,
  ingestRecord,
  MAX_INGEST_ERRORS,
} from '#shared/contract/data/ingest.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { readFeed } from '#shared/db/data/feeds.ts';
import { ingestBatch, type IngestTarget } from '#shared/db/data/ingest.ts';
import type { BatchOutcome, NumberedRecord } from '#shared/db/data/ingest-plan.ts';
import type { Pool, Tx } from '#shared/db/pool.ts';

/** A record as sent, before validation, or why it could not be read. `line` counts from 1. */
export type SentRecord =
  | { line: number; value: unknown; size?: number }
  | { line: number; reason: string };

/** `onChange`: called after a change of the workspace was committed. */
export interface IngestDeps {
  db: Pool;
  onChange: (workspaceId: string) => void;
}

/** The maximum number of records, and their size in bytes, per transaction of a stream. */
const BATCH_RECORDS = 500;
const BATCH_BYTES = 2 * 1024 * 1024;
const MAX_REASON_CHARACTERS = 500;

/**
 * Writes records to a feed, in order and all in one transaction, with an audit entry. Throws AppError `not_found`, and
 * `conflict` for an archived feed.
 */
export async function ingestRecords(
  { db, onChange }: IngestDeps,
  actor: Actor,
  feedId: string,
  sent: readonly SentRecord[],
): Promise<IngestAnswer> {
  const target = { workspaceId: actor.workspaceId, feedId };
  await readFeed(db, target);
  const done = await db.transaction(async (tx) => {
    const answer = emptyAnswer();
    await takeBatch(tx, target, sent, answer);
    await auditIngest(tx, actor, feedId, answer);
    return answer;
  });
  onChange(actor.workspaceId);
  return done;
}

/**
 * Writes a stream of records of any length to a feed in batches, and reads on after each batch is written. When the
 * stream is interrupted or a batch fails, the earlier batches stay, with an audit entry. Sending everything again is
 * safe. Throws the errors of `ingestRecords` and of the stream.
 */
export async function ingestStream(
  { db, onChange }: IngestDeps,
  actor: Actor,
  feedId: string,
  sent: AsyncIterable<SentRecord>,
): Promise<IngestAnswer> {
  const target = { workspaceId: actor.workspaceId, feedId };
  await readFeed(db, target);
  const answer = emptyAnswer();
  let complete = false;
  try {
    for await (const batch of batchesOf(sent)) {
      const before = structuredClone(answer);
      await db
        .transaction((tx) => takeBatch(tx, target, batch, answer))
        .catch((error: unknown) => {
          // Uncommitted records do not count.
          Object.assign(answer, before);
          throw error;
        });
      onChange(actor.workspaceId);
    }
    complete = true;
  } finally {
    await auditIngest(db, actor, feedId, answer, complete ? {} : { broken_off: true });
  }
  return answer;
}

async function* batchesOf(sent: AsyncIterable<SentRecord>): AsyncGenerator<SentRecord[]> {
  let batch: SentRecord[] = [];
  let bytes = 0;
  for await (const each of sent) {
    batch.push(each);
    bytes += 'value' in each ? (each.size ?? 0) : 0;
    if (batch.length < BATCH_RECORDS && bytes < BATCH_BYTES) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

const emptyAnswer = (): IngestAnswer => ({
  created: 0,
  updated: 0,
  unchanged: 0,
  refused: 0,
  errors: [],
  events: { created: 0, updated: 0, unchanged: 0 },
});

/** Writes the valid records, and adds their results to the response. */
async function takeBatch(
  tx: Tx,
  target: IngestTarget,
  sent: readonly SentRecord[],
  answer: IngestAnswer,
): Promise<void> {
  const records: NumberedRecord[] = [];
  const refusals: BatchOutcome['refusals'] = [];
  for (const each of sent) {
    const read = 'reason' in each ? each : readRecord(each.value);
    if ('reason' in read) refusals.push({ line: each.line, reason: read.reason });
    else records.push({ line: each.line, record: read.record });
  }
  const outcome = await ingestBatch(tx, target, records);
  refusals.push(...outcome.refusals);
  refusals.sort((a, b) => a.line - b.line);
  addCounts(answer, outcome);
  addCounts(answer.events, outcome.events);
  answer.refused += refusals.length;
  answer.errors.push(
    ...refusals.slice(0, MAX_INGEST_ERRORS - answer.errors.length).map(({ line, reason }) => ({
      line,
      reason: reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed(),
    })),
  );
}

function readRecord(value: unknown): { record: IngestRecord } | { reason: string } {
  const { success, data, error } = ingestRecord.safeParse(value);
  if (success) return { record: data };
  const reasons = error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')} ${message}`,
  );
  return { reason: reasons.join('; ') };
}

type Counts = IngestAnswer['events'];

function addCounts(to: Counts, more: Counts): void {
  to.created += more.created;
  to.updated += more.updated;
  to.unchanged += more.unchanged;
}

const auditIngest = (
  db: Pool | Tx,
  actor: Actor,
  feedId: string,
  { created, updated, unchanged, refused, events }: IngestAnswer,
  more: { broken_off?: true } = {},
): Promise<void> =>
  recordAudit(db, actor, {
    action: 'data_ingest',
    targetType: 'feed',
    targetId: feedId,
    details: { created, updated, unchanged, refused, events, ...more },
  });
