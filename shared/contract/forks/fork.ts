import { z } from 'zod';
import { outsideOf, toolsAllowedByName } from '#shared/tools.ts';
import { jsonObject } from '#shared/contract/common.ts';
import { runSchema } from '#shared/contract/runs/run.ts';

const kinds: readonly string[] = ['agent', 'workflow'];
const readingMethods: readonly string[] = ['http_request:GET', 'http_request:HEAD'];

/** Whether this name covers only reads and steps with their own rules, which a request that decides gates may allow. */
const onlyReads = (name: string): boolean =>
  kinds.includes(name) || readingMethods.includes(name) || outsideOf(name) === 'reads';

/** Whether a request allows effects: anything that `onlyReads` does not cover. */
export const allowsEffect = (allow: readonly string[]): boolean =>
  allow.some((name) => !onlyReads(name));

const plainNames = [...kinds, ...toolsAllowedByName];
const PATTERN = /^(custom:[a-zA-Z0-9_.-]+|http_request:[A-Z]+)$/;

/** Why a rehearsal cannot execute this name; undefined if it can. */
function problemOfAllowed(name: string): string | undefined {
  if (outsideOf(name) === 'changes') {
    return `'${name}' has effects, so no rehearsal executes it: leave it out, or run again without mode`;
  }
  if (plainNames.includes(name) || PATTERN.test(name)) return undefined;
  const named = plainNames.map((each) => `'${each}'`).join(', ');
  return `must be ${named}, 'custom:<name>' or 'http_request:<METHOD>'`;
}

const allowed = z
  .string()
  .max(200)
  .superRefine((name, context) => {
    const message = problemOfAllowed(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const rehearsedDecision = z.strictObject({ approved: z.boolean(), input: jsonObject.optional() });

/** How a rehearsal executes steps that have no recorded result. */
export const rehearsalShape = {
  allow: z.array(allowed).max(50).meta({
    description:
      'These are executed where there is no record: `agent`, `workflow`, `custom:<name>`, `http_request:<METHOD>` or the name of a tool. By default only what computes',
  }),
  failures: z.enum(['recorded', 'execute']).meta({
    description:
      'Whether a step that had failed fails again, or counts as one without a record. The default is `recorded`',
  }),
  decisions: z.record(z.string().min(1).max(1_000), rehearsedDecision).meta({
    description: 'Decisions at gates, by step key or node id. They come before those of the record',
  }),
};

export const rehearsalSchema = z.object(rehearsalShape);
export type Rehearsal = z.infer<typeof rehearsalSchema>;

/** A rehearsal as stored with its run, with the steps whose failures are repeated. */
export const storedRehearsal = rehearsalSchema.extend({
  failed: z.array(z.string()),
  /** Nodes whose outputs were pinned by the member who started the rehearsal. */
  pinned: z.array(z.string()).optional(),
  /**
   * The gate or approval before a node, as text, by node id; see `guardKey`. Absent in rehearsals from before it was
   * stored: then any node may be guarded.
   */
  guarded: z.record(z.string(), z.string()).optional(),
});
export type StoredRehearsal = z.infer<typeof storedRehearsal>;

export const rehearsalFields = {
  mode: z.literal('recorded').optional().meta({
    description:
      'Rehearses the run: steps take their results from the record of the other run, and nothing has an effect',
  }),
  allow: rehearsalShape.allow.optional(),
  failures: rehearsalShape.failures.optional(),
  decisions: rehearsalShape.decisions.optional(),
  pins: z.boolean().optional().meta({
    description:
      'For mode `recorded`: nodes have the outputs that you have pinned, and not those of the record',
  }),
};

export const rerunFields = {
  input: jsonObject.optional().meta({ description: 'The default is the input of that run' }),
  version: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .meta({ description: 'The version to run; the default is that of the other run' }),
  draft: z
    .boolean()
    .optional()
    .meta({ description: "Runs the workflow's draft, and not a version" }),
  ...rehearsalFields,
};

/** A request with these fields and either a version or the draft. */
export const withOneGraph = <
  Fields extends z.ZodObject<Pick<typeof rerunFields, 'version' | 'draft'>>,
>(
  fields: Fields,
) =>
  fields.refine(({ version, draft }) => version === undefined || draft !== true, {
    path: ['draft'],
    message: 'cannot be combined with version',
  });

/** A request that rehearses. It cannot allow effects if it decides gates itself. */
export const rehearses = <
  Fields extends z.ZodObject<Pick<typeof rehearsalFields, 'allow' | 'decisions'>>,
>(
  fields: Fields,
) =>
  fields.superRefine(({ allow, decisions }, context) => {
    const effect = allow?.find((name) => !onlyReads(name));
    if (effect === undefined || Object.keys(decisions ?? {}).length === 0) return;
    const message = `cannot be combined with '${effect}' in allow: no one has approved what that does`;
    context.addIssue({ code: 'custom', path: ['decisions'], message });
  });

/** A request that starts a run from another one. The fields for rehearsals require the mode `rehearse`. */
export const startsAgain = <Fields extends z.ZodObject<typeof rerunFields>>(fields: Fields) =>
  withOneGraph(rehearses(fields)).superRefine((request, context) => {
    const { mode, allow, failures, decisions, pins } = request;
    if (mode !== undefined) return;
    for (const [name, value] of Object.entries({ allow, failures, decisions, pins })) {
      if (value === undefined) continue;
      context.addIssue({ code: 'custom', path: [name], message: "needs mode: 'recorded'" });
    }
  });

export const rerunBody = startsAgain(z.strictObject(rerunFields))
  .nullish()
  .meta({ examples: [{ input: { ticket: 'I was charged twice' } }] });

export const forkFields = {
  from_step: z.string().min(1).max(1_000).meta({
    description:
      'The key of the step to execute first. The key of a turn or call of an agent with tools means that turn',
  }),
  state: jsonObject.optional().meta({
    description:
      'Laid over the state as that step begins: its templates and those that follow read it',
  }),
  ...rerunFields,
};

export const forkBody = startsAgain(z.strictObject(forkFields)).meta({
  examples: [{ from_step: 'answer', state: { tone: 'friendly' } }],
});

const notReusedSchema = z
  .object({ step_key: z.string(), node_id: z.string(), reason: z.string() })
  .meta({ id: 'NotReused' });

export const forkSchema = runSchema
  .extend({
    not_reused: z.array(notReusedSchema).meta({
      description:
        'Steps that were finished and are not reused at the start, because of another graph or input: of a fork, those before `from_step`. A rehearsal looks for their record when it reaches them',
    }),
  })
  .meta({ id: 'Fork' });

export type NotReused = z.infer<typeof notReusedSchema>;
