import { z } from 'zod';
import type { EventOutcome, RefusalReason } from '#shared/contract/inbound/inbound-event.ts';
import { type Db, statement } from '#shared/db/pool.ts';
import type { ArrivedEvent } from './arrived-event.ts';

/** An entry that is written later, together with others. */
export interface LoggedEvent extends ArrivedEvent {
  workflowId: string;
  receivedAt: Date;
  outcome: Exclude<EventOutcome, 'run' | 'event'>;
  status: number;
  reason: RefusalReason | null;
  detail: string | null;
  runId: string | null;
  sentEventId: string | null;
  /** How many events it represents. It grows when the entry is written again. */
  times: number;
}

/** Writes new entries, and the new counts of those written before. Entries of deleted workflows are left out. */
export async function writeEvents(db: Db, events: readonly LoggedEvent[]): Promise<void> {
  const rows = events.map((event) => ({
    id: event.id,
    workflow_id: event.workflowId,
    received_at: event.receivedAt.toISOString(),
    outcome: event.outcome,
    status: event.status,
    reason: event.reason,
    detail: event.detail,
    run_id: event.runId,
    sent_event_id: event.sentEventId,
    event_id: event.eventId,
    source: event.source,
    headers: event.headers,
    size: event.size,
    body: event.body?.toString('base64'),
    times: event.times,
  }));
  await db.query(statement(z.object({}))`
    INSERT INTO inbound_events (id, workflow_id, received_at, outcome, status, reason, detail, run_id, sent_event_id, event_id,
                                source, headers, size, body, times)
    SELECT e.id, w.id, e.received_at, e.outcome, e.status, e.reason, e.detail, e.run_id, e.sent_event_id, e.event_id,
           e.source, e.headers, e.size, decode(e.body, 'base64'), e.times
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
           AS e (id text, workflow_id text, received_at timestamptz, outcome text, status smallint, reason text,
                 detail text, run_id text, sent_event_id text, event_id text, source text, headers json, size int, body text, times int)
    JOIN workflows w ON w.id = e.workflow_id
    -- It may be deleted concurrently.
    FOR KEY SHARE OF w
    ON CONFLICT (id) DO UPDATE SET times = greatest(inbound_events.times, excluded.times)
  `);
}
