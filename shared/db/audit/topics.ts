import { z } from 'zod';
import { auditTargets } from '#shared/contract/audit/audit.ts';
import type { WorkspaceTopic } from '#shared/contract/runs/stream.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';

const topicRow = z.object({
  workspace_id: z.string(),
  topic: z.string() as unknown as z.ZodType<WorkspaceTopic>,
  marker: z.string().nullable(),
});

/** If `marker` differs from that of an earlier read, something of this kind has changed in between. */
export type TopicMarker = z.infer<typeof topicRow>;

/**
 * The markers of these workspaces: the newest audit entry for each kind of target, and the newest change of jobs and
 * data records. There is a row for runs only if one of `runIds` belongs to the workspace. Each marker is one index
 * lookup.
 */
export async function readTopicMarkers(
  db: Db,
  workspaceIds: readonly string[],
  runIds: readonly string[],
): Promise<readonly TopicMarker[]> {
  return db.any(statement(topicRow)`
    WITH workspace AS MATERIALIZED (
      SELECT id FROM unnest(${sql.array([...workspaceIds], 'text')}) AS w (id)
    )
    SELECT w.id AS workspace_id, t.topic,
           (SELECT max(seq)::text FROM audit_log WHERE workspace_id = w.id AND target_type = t.topic) AS marker
    FROM workspace w CROSS JOIN unnest(${sql.array(Object.keys(auditTargets), 'text')}) AS t (topic)
    UNION ALL
    SELECT w.id, 'job', (SELECT max(updated_at)::text FROM background_jobs WHERE workspace_id = w.id)
    FROM workspace w
    UNION ALL
    SELECT w.id, 'record', (
      SELECT string_agg(newest.marker, ' ' ORDER BY demo.is_demo)
      FROM (VALUES (true), (false)) AS demo (is_demo)
      CROSS JOIN LATERAL (
        SELECT concat_ws(' ',
          (SELECT seq FROM data_entities WHERE workspace_id = w.id AND is_demo = demo.is_demo
           ORDER BY first_observed_at DESC, seq DESC LIMIT 1),
          (SELECT seq FROM data_changes WHERE workspace_id = w.id AND is_demo = demo.is_demo
           ORDER BY changed_at DESC, seq DESC LIMIT 1),
          (SELECT seq FROM data_events WHERE workspace_id = w.id AND is_demo = demo.is_demo
           ORDER BY detected_at DESC, seq DESC LIMIT 1)) AS marker) newest)
    FROM workspace w
    UNION ALL
    SELECT DISTINCT r.workspace_id, 'step', NULL
    FROM runs r JOIN workspace w ON w.id = r.workspace_id
    WHERE r.id = ANY(${sql.array([...runIds], 'text')})
  `);
}
