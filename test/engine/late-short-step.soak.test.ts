import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { z } from 'zod';
import { feedInput } from '#shared/contract/data/feed.ts';
import { createFeed } from '#shared/db/data/feeds.ts';
import { sql } from '#shared/db/pool.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { createWorker } from '#worker/create-worker.ts';
import { chain, startEngine } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';
import { fetchHistory } from './histories.ts';

/** Longer than a short attempt, its timeout in the SDK, and the claim that it holds in the ledger. */
const HELD_MS = 20_000;

test(
  'a short tool that does not end continues in the long lane, with one warning, and runs once',
  async () => {
    const engine = await startEngine({ worker: false });
    const warnings: { msg: string; tool?: string }[] = [];
    const log = createLogger(
      { name: 'test', level: 'warn' },
      { write: (line) => void warnings.push(JSON.parse(line)) },
    );
    const bundle = { codePath: setting('WORKFLOW_BUNDLE') };
    const worker = await createWorker({ ...engine.deps, log, bundle });
    const holder = new pg.Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    try {
      const { id: feedId } = await createFeed(
        engine.db,
        engine.actor,
        feedInput.parse({ name: 'Held' }),
      );
      const workflowId = await engine.define(
        chain({
          id: 'keep',
          kind: 'tool',
          tool_name: 'entity_upsert',
          params: {
            feed_id: feedId,
            external_key: '{key}',
            entity_type: 'company',
            canonical_name: 'Company',
            attributes: { size: 7 },
          },
        }),
      );
      // The tool's statement waits for this lock, and no signal ends it.
      await holder.query('BEGIN');
      await holder.query('SELECT FROM data_feeds WHERE id = $1 FOR UPDATE', [feedId]);
      const runIds = await Promise.all(
        ['a', 'b'].map((key) => engine.trigger(workflowId, { key })),
      );
      await sleep(HELD_MS);
      await holder.query('COMMIT');
      for (const runId of runIds) {
        await engine.until(runId, ['success'], 60_000);
        const types = (await engine.frames(runId)).map(({ type }) => type);
        expect(types).toEqual(['step_started', 'step_completed', 'run_completed']);
        const { events } = await fetchHistory(engine, runId);
        expect(JSON.stringify(events)).toContain('activityTaskScheduledEventAttributes');
      }
      const versions = await engine.db.any(
        sql.type(z.object({ external_key: z.string(), version: z.number() }))`
          SELECT external_key, version FROM data_entities
           WHERE feed_id = ${feedId} ORDER BY external_key`,
      );
      expect(versions).toEqual([
        { external_key: 'a', version: 1 },
        { external_key: 'b', version: 1 },
      ]);
      expect(warnings.filter(({ msg }) => msg.includes('short step'))).toEqual([
        expect.objectContaining({
          tool: 'entity_upsert',
          msg: 'a short step took longer than 1000 ms; it continues in the long lane',
        }),
      ]);
    } finally {
      await holder.end();
      await worker.stop();
      await engine.close();
    }
  },
  HELD_MS + 90_000,
);
