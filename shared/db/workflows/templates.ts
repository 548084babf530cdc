import { z } from 'zod';
import type { AuditAction } from '#shared/contract/audit/audit.ts';
import type { Actor } from '#shared/people/actor.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import type {
  Template,
  TemplateCreate,
  TemplateUpdate,
} from '#shared/contract/workflows/template.ts';
import { conflict, notFound } from '#shared/errors.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { builtInTemplates } from '#shared/templates/index.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { limitsInput, type StoredLimits } from '#shared/contract/limits/limits.ts';
import { storeLimits } from '#shared/db/limits/limits.ts';
import { insertWorkflow } from './workflows.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { storedJson } from '#shared/db/stored-json.ts';

export interface TemplateScope {
  workspaceId: string;
  templateId: string;
}

const templateRow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  graph: storedJson<Template['graph']>(),
  input_schema: storedJson<Template['input_schema']>(),
  checks: z.array(storedJson()),
  limits: storedJson<StoredLimits>().nullable(),
  sample_input: storedJson<JsonObject>(),
  created_at: z.string(),
});

const toTemplate = (row: z.infer<typeof templateRow>): Template =>
  withEtag({ ...row, built_in: false });

const columns = sql.fragment`
  t.id, t.name, t.description, t.graph, t.input_schema, t.checks, t.limits, t.sample_input, t.created_at
`;

const builtIn: readonly Template[] = builtInTemplates.map(
  ({ id, name, description, graph, inputSchema = null, checks, limits, sampleInput }) =>
    withEtag({
      id,
      name,
      description,
      built_in: true,
      graph: graph as unknown as Template['graph'],
      input_schema: inputSchema,
      checks: checks as unknown as Json[],
      limits: limits === undefined ? null : limitsInput.parse(limits),
      sample_input: sampleInput,
      created_at: null,
    }),
);
const builtInById = new Map(builtIn.map((template) => [template.id, template]));

/** Built-in templates, then the workspace's own, newest first. */
export async function listTemplates(
  db: Db,
  workspaceId: string,
  { limit, offset }: OffsetPage,
): Promise<Template[]> {
  const first = builtIn.slice(offset, offset + limit);
  const own = { limit: limit - first.length, offset: Math.max(0, offset - builtIn.length) };
  const rows = await db.any(statement(templateRow)`
    SELECT ${columns} FROM templates t
    WHERE t.workspace_id = ${workspaceId} ORDER BY t.created_at DESC, t.id DESC ${offsetClause(own)}
  `);
  return [...first, ...rows.map(toTemplate)];
}

/** Throws AppError `not_found`. */
export async function readTemplate(db: Db, scope: TemplateScope): Promise<Template> {
  const found = builtInById.get(scope.templateId);
  if (found !== undefined) return found;
  const row = await db.maybeOne(statement(templateRow)`
    SELECT ${columns} FROM templates t
    WHERE t.id = ${scope.templateId} AND t.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) throw notFound('Template');
  return toTemplate(row);
}

/**
 * Saves a graph, or the current version of a workflow with its checks; returns the new template's id. Throws AppError
 * `not_found` for that workflow, `conflict` when there are too many templates.
 */
export async function createTemplate(
  db: Pool,
  actor: Actor,
  body: TemplateCreate,
): Promise<string> {
  const id = newId('template');
  await db.transaction(async (tx) => {
    await requireRoom(tx, actor.workspaceId, 'templates');
    const name =
      'workflow_id' in body
        ? await insertCopy(tx, actor, id, body)
        : await insertGraph(tx, actor, id, body);
    await auditTemplate(tx, actor, id, 'create', { name });
  });
  return id;
}

type SavedGraph = Exclude<TemplateCreate, { workflow_id: string }>;
type SavedWorkflow = Extract<TemplateCreate, { workflow_id: string }>;

const nameRow = z.object({ name: z.string() });
const jsonOrNull = (value: object | null | undefined): string | null =>
  value == null ? null : JSON.stringify(value);

const insertGraph = async (tx: Tx, actor: Actor, id: string, body: SavedGraph): Promise<string> =>
  tx.oneFirst(statement(nameRow)`
    INSERT INTO templates (id, workspace_id, name, description, graph, input_schema, checks, limits, sample_input, created_by)
    VALUES (${id}, ${actor.workspaceId}, ${body.name}, ${body.description}, ${JSON.stringify(body.graph)}::json,
            ${jsonOrNull(body.input_schema)}::json, ${JSON.stringify(body.checks)}::json, ${jsonOrNull(body.limits)}::json,
            ${JSON.stringify(body.sample_input)}::json, ${actor.id})
    RETURNING name
  `);

async function insertCopy(tx: Tx, actor: Actor, id: string, body: SavedWorkflow): Promise<string> {
  const name = await tx.maybeOneFirst(statement(nameRow)`
    INSERT INTO templates (id, workspace_id, name, description, graph, input_schema, checks, limits, sample_input, created_by)
    SELECT ${id}, w.workspace_id, coalesce(${body.name ?? null}, w.name),
           coalesce(${body.description ?? null}, w.description), v.graph, v.input_schema, w.checks,
           l.settings, ${JSON.stringify(body.sample_input)}::json, ${actor.id}
    FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    LEFT JOIN workflow_limits l ON l.workflow_id = w.id
    WHERE w.id = ${body.workflow_id} AND w.workspace_id = ${actor.workspaceId}
    RETURNING name
  `);
  if (name === null) throw notFound('Workflow');
  return name;
}

const TEMPLATE_FIELDS = [
  ...([
    'name',
    'description',
    'graph',
    'input_schema',
    'checks',
    'limits',
    'sample_input',
  ] as const),
];

/** Changes the given fields. Throws AppError `not_found`, and `conflict` for a built-in one. */
export async function updateTemplate(
  db: Pool,
  actor: Actor,
  templateId: string,
  body: TemplateUpdate,
): Promise<void> {
  requireOwn(templateId);
  await db.transaction(async (tx) => {
    const before = await tx.maybeOne(statement(templateRow)`
      SELECT ${columns} FROM templates t
      WHERE t.id = ${templateId} AND t.workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    if (before === null) throw notFound('Template');
    const after = { ...before, ...body };
    const changed = TEMPLATE_FIELDS.filter(
      (field) => canonicalJson(before[field] as Json) !== canonicalJson(after[field] as Json),
    );
    if (changed.length === 0) return;
    await tx.query(statement(z.object({}))`
      UPDATE templates
      SET name = ${after.name}, description = ${after.description}, graph = ${JSON.stringify(after.graph)}::json,
          input_schema = ${jsonOrNull(after.input_schema)}::json,
          checks = ${JSON.stringify(after.checks)}::json, limits = ${jsonOrNull(after.limits)}::json,
          sample_input = ${JSON.stringify(after.sample_input)}::json,
          updated_at = now()
      WHERE id = ${templateId} AND workspace_id = ${actor.workspaceId}
    `);
    await auditTemplate(tx, actor, templateId, 'update', { changed });
  });
}

/**
 * Deletes a template; workflows created from it stay. Throws AppError `not_found`, and `conflict` for a built-in one.
 */
export async function deleteTemplate(db: Pool, actor: Actor, templateId: string): Promise<void> {
  requireOwn(templateId);
  await db.transaction(async (tx) => {
    const name = await tx.maybeOneFirst(statement(nameRow)`
      DELETE FROM templates WHERE id = ${templateId} AND workspace_id = ${actor.workspaceId}
      RETURNING name
    `);
    if (name === null) throw notFound('Template');
    await auditTemplate(tx, actor, templateId, 'delete', { name });
  });
}

/** Creates a draft workflow from a template, with its checks and limits, and returns its id. Throws AppError `not_found`. */
export async function instantiateTemplate(
  db: Pool,
  actor: Actor,
  templateId: string,
  wanted: { name?: string; description?: string },
): Promise<string> {
  const template = await readTemplate(db, { workspaceId: actor.workspaceId, templateId });
  const { name = template.name, description = template.description } = wanted;
  const { graph, input_schema, limits } = template;
  return db.transaction(async (tx) => {
    const body = { name, description, graph, input_schema };
    const workflowId = await insertWorkflow(tx, actor, body, template);
    if (limits !== null) await storeLimits(tx, actor, workflowId, { settings: limits });
    return workflowId;
  });
}

function requireOwn(templateId: string): void {
  const template = builtInById.get(templateId);
  if (template === undefined) return;
  throw conflict(
    `The template '${template.name}' is built in and cannot be changed; save a copy of your own`,
  );
}

const auditTemplate = async (
  tx: Tx,
  actor: Actor,
  templateId: string,
  action: AuditAction,
  details: JsonObject,
): Promise<void> =>
  recordAudit(tx, actor, { action, targetType: 'template', targetId: templateId, details });
