import { z } from 'zod';
import { type Actor, requireCapability } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import { asTool, calledAs } from '#shared/tools.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';

/**
 * A workflow is in use where it is published, or where a webhook or a schedule runs it, and so is everything that it
 * reaches: the workflows that its graph calls or offers to a model, by id or name and at any distance, and the custom
 * tools of all these. A change of any of them takes effect immediately, without another action.
 */

/** What an act changes. */
interface Changed {
  /** A workflow that is a cause of its own: it can be published, or have a trigger. */
  workflowId?: string;
  /** What it changes for the graphs that name it, in the words of the SQL function `called_by_graph`. */
  called: readonly string[];
}

/** A workflow, by what graphs can name it. */
interface NamedWorkflow {
  id: string;
  name: string;
}

/** Another current version of a workflow. */
export const anotherVersion = ({ id, name }: NamedWorkflow): Changed => ({
  workflowId: id,
  called: [`current ${id}`, `current ${name}`],
});

/** Another cap, mode of it or duty of a workflow: for runs of all its versions. */
export const otherLimits = ({ id, name }: NamedWorkflow): Changed => ({
  workflowId: id,
  called: [`workflow ${id}`, `workflow ${name}`],
});

/** A workflow that comes, or goes: another one can be meant by its name from then on, or none. */
export const presence = ({ id, name }: NamedWorkflow): Changed => ({
  called: [`workflow ${id}`, `workflow ${name}`],
});

/** Another name of a workflow: for calls by either name, and for the models of agents that offer it. */
export const anotherName = ({ id, name }: NamedWorkflow, after: string): Changed => ({
  called: [`workflow ${name}`, `workflow ${after}`, `offered ${asTool(id)}`],
});

/** Another description of a workflow, which the models of agents read that offer it. */
export const anotherDescription = ({ id, name }: NamedWorkflow): Changed => ({
  called: [`offered ${asTool(id)}`, `offered ${asTool(name)}`],
});

/** A custom tool with this name; or only the texts that models read of it. */
export const customTool = (name: string, changed: 'all' | 'texts' = 'all'): Changed => ({
  called: [changed === 'all' ? calledAs(name) : `offered ${calledAs(name)}`],
});

const inUse = z.object({ published: z.boolean(), triggered: z.boolean() });

/**
 * Requires the permissions to change what is in use: `publish_workflows` where something published reaches it, and
 * `run_workflows` where something with an enabled webhook or schedule does. The caller must have locked the workspace's
 * row before any other, as everything does that brings a workflow into use: of a change and a concurrent act that brings
 * what it changes into use, the second waits and then finds the first. Throws AppError `forbidden`.
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
  // A version that is not the current one is reached by calls that name it.
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
           EXISTS (SELECT FROM found JOIN workflow_webhooks h ON h.workflow_id = found.id WHERE h.secret IS NOT NULL)
             OR EXISTS (SELECT FROM found JOIN schedules s ON s.workflow_id = found.id WHERE s.enabled) AS triggered
  `);
  if (published) requireCapability(actor, 'publish_workflows');
  if (triggered) requireCapability(actor, 'run_workflows');
}
