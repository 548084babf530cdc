import { z } from 'zod';
import { type Actor, requireCapability } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import { asTool, calledAs } from '#shared/tools.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';

/**
 * A workflow is in use if it is published, or if a webhook, schedule or event trigger runs it. Everything it reaches is then also in
 * use: the workflows that its graph calls or offers to a model, by id or name, directly or indirectly, and the custom
 * tools of all of these. A change to any of them takes effect immediately, without another action.
 */

/** What an action changes. */
interface Changed {
  /** A workflow that can itself be in use: it can be published or have a trigger. */
  workflowId?: string;
  /** What changes for graphs that refer to it, in the form of the SQL function `called_by_graph`. */
  called: readonly string[];
}

/** A workflow, with the ids and names by which graphs can refer to it. */
interface NamedWorkflow {
  id: string;
  name: string;
}

/** A change of a workflow's current version. */
export const anotherVersion = ({ id, name }: NamedWorkflow): Changed => ({
  workflowId: id,
  called: [`current ${id}`, `current ${name}`],
});

/** A change of a workflow's cap, its mode, or its required experiment: this affects runs of all versions. */
export const otherLimits = ({ id, name }: NamedWorkflow): Changed => ({
  workflowId: id,
  called: [`workflow ${id}`, `workflow ${name}`],
});

/** A workflow was added or removed: from then on, its name may refer to another workflow, or to none. */
export const presence = ({ id, name }: NamedWorkflow): Changed => ({
  called: [`workflow ${id}`, `workflow ${name}`],
});

/** A change of a workflow's name: this affects calls by either name, and the models of agents that offer it. */
export const anotherName = ({ id, name }: NamedWorkflow, after: string): Changed => ({
  called: [`workflow ${name}`, `workflow ${after}`, `offered ${asTool(id)}`],
});

/** A change of a workflow's description, which is read by the models of agents that offer it. */
export const anotherDescription = ({ id, name }: NamedWorkflow): Changed => ({
  called: [`offered ${asTool(id)}`, `offered ${asTool(name)}`],
});

/** A custom tool with this name, or only the texts that models read. */
export const customTool = (name: string, changed: 'all' | 'texts' = 'all'): Changed => ({
  called: [changed === 'all' ? calledAs(name) : `offered ${calledAs(name)}`],
});

const inUse = z.object({ published: z.boolean(), triggered: z.boolean() });

/**
 * Requires the permissions to change something in use: `publish_workflows` if something published reaches it, and
 * `run_workflows` if something with an enabled webhook, schedule or event trigger does. The caller must have locked the workspace's
 * row before any other row, as does everything that brings a workflow into use: then, of a change and a concurrent
 * action that brings it into use, the second waits and finds the first. Throws AppError `forbidden`.
 */
export async function requireToChange(
  tx: Tx,
  actor: Actor,
  { workflowId = '', called }: Changed,
): Promise<void> {
  const all = (['publish_workflows', 'run_workflows'] as const).every((capability) =>
    holds(actor.role, actor.overrides, capability),
  );
  if (all) return;
  const { workspaceId } = actor;
  // A version that is not current is reached by calls that name that version.
  const { published, triggered } = await tx.one(statement(inUse)`
    WITH RECURSIVE reaching AS (
      SELECT v.workflow_id, v.version FROM workflow_versions v JOIN workflows w ON w.id = v.workflow_id
      WHERE w.workspace_id = ${workspaceId} AND called_by_graph(v.graph) && ${sql.array(called, 'text')}
      UNION
      SELECT v.workflow_id, v.version
      FROM reaching r JOIN workflows t ON t.id = r.workflow_id
      JOIN workflow_versions v ON called_by_graph(v.graph) && (
        ARRAY[r.version || ' ' || t.id, r.version || ' ' || t.name] || CASE WHEN r.version = t.version
          THEN ARRAY['current ' || t.id, 'current ' || t.name] ELSE '{}' END)
      JOIN workflows w ON w.id = v.workflow_id AND w.workspace_id = ${workspaceId}
    ), found AS (
      SELECT w.id, w.status FROM reaching r JOIN workflows w ON w.id = r.workflow_id AND w.version = r.version
      UNION
      SELECT id, status FROM workflows WHERE id = ${workflowId} AND workspace_id = ${workspaceId}
    )
    SELECT EXISTS (SELECT FROM found WHERE status = 'published') AS published,
           EXISTS (SELECT FROM found JOIN workflow_webhooks h ON h.workflow_id = found.id WHERE h.secret IS NOT NULL AND h.event IS NULL)
             OR EXISTS (SELECT FROM found JOIN schedules s ON s.workflow_id = found.id WHERE s.enabled)
             OR EXISTS (SELECT FROM found JOIN event_triggers t ON t.workflow_id = found.id WHERE t.enabled) AS triggered
  `);
  if (published) requireCapability(actor, 'publish_workflows');
  if (triggered) requireCapability(actor, 'run_workflows');
}
