import { z } from 'zod';
import { isTimer } from '#shared/tools.ts';
import { jsonValue } from '#shared/contract/common.ts';

/** Kinds of data that redaction detects. Each is also the name in `[REDACTED:<name>]`. */
export const detectorNames = [
  'email',
  'phone',
  'credit_card',
  'ssn',
  'iban',
  'ip',
  'api_key',
] as const;
export type DetectorName = (typeof detectorNames)[number];

const name = z.string().min(1).max(200);

/**
 * RE2: no back-references and no look-around, so matching takes linear time. `policyPatternProblem` validates patterns,
 * because compiling all patterns of a request can take a minute.
 */
const pattern = z
  .string()
  .min(1)
  .max(500)
  .meta({ description: 'RE2, matched anywhere in the text' });

const unique = (names: readonly string[]): boolean => new Set(names).size === names.length;

const blockedArgumentSchema = z
  .strictObject({
    argument: z
      .string()
      .max(200)
      .regex(/^[^.]+(?:\.[^.]+)*$/, 'must be a path like body.country')
      .meta({ description: 'Path into the rendered parameters, with dots between steps' }),
    values: z
      .array(jsonValue)
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'Compared by value, in lists with each member' }),
    pattern: pattern.optional(),
  })
  .refine(
    (rule) => (rule.values === undefined) !== (rule.pattern === undefined),
    "requires either 'values' or 'pattern'",
  )
  .meta({ id: 'BlockedArgument' });

const toolPolicySchema = z
  .strictObject({
    tool: z
      .string()
      .min(1)
      .max(209)
      .refine((tool) => !isTimer(tool), "'delay' only waits inside the run and is never refused")
      .meta({
        description:
          'As in `tool_name`; `workflow:<id or name>` for runs that a run starts; `code` for all code',
      }),
    allowed_workflow_ids: z
      .array(name)
      .max(1_000)
      .optional()
      .meta({ description: 'Absent: all workflows can use it' }),
    blocked_arguments: z.array(blockedArgumentSchema).max(50).optional(),
  })
  .meta({ id: 'ToolPolicy' });

const redactionPatternSchema = z
  .strictObject({
    name: z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9_-]{0,49}$/,
        'must contain only letters, digits, _ and -, at most 50',
      )
      .refine(
        (text) => !(detectorNames as readonly string[]).includes(text),
        'is the name of a detector',
      ),
    regex: pattern,
  })
  .meta({ id: 'RedactionPattern' });

const redactionSchema = z
  .strictObject({
    detectors: z
      .array(z.enum(detectorNames))
      .max(detectorNames.length)
      .refine(unique, 'names a detector twice')
      .default([]),
    patterns: z
      .array(redactionPatternSchema)
      .max(20)
      .refine((patterns) => unique(patterns.map((each) => each.name)), 'uses a name twice')
      .default([]),
  })
  .meta({ id: 'Redaction' });

/** A name, or the beginning of names before `*`. */
const limitedNames = z
  .array(
    z
      .string()
      .min(1)
      .max(209)
      .regex(/^[^*]+\*?$|^\*$/, "can have '*' only at its end"),
  )
  .min(1)
  .max(50)
  .refine(unique, 'names one twice');

const callLimitSchema = z
  .strictObject({
    tools: limitedNames
      .optional()
      .meta({ description: 'As in `tool_name`; `custom:crm_*` for all that begin so' }),
    models: limitedNames
      .optional()
      .meta({ description: 'As in `model`; `openai/*` for all that begin so' }),
    concurrency: z
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'Calls in flight at the same time' }),
    per_minute: z
      .int()
      .min(1)
      .max(6_000)
      .optional()
      .meta({ description: 'Calls that begin within any 60 seconds' }),
    key: z.string().min(1).max(200).optional().meta({
      description:
        'A template over `args`, `name` and `workflow_id`, such as `{args.customer}`: each value has calls of its own',
    }),
  })
  .refine(
    (limit) => (limit.tools === undefined) !== (limit.models === undefined),
    "requires either 'tools' or 'models'",
  )
  .refine(
    (limit) => limit.concurrency !== undefined || limit.per_minute !== undefined,
    "requires 'concurrency', 'per_minute' or both",
  )
  .meta({ id: 'CallLimit' });

/** What a limit counts. Its numbers can change, and calls in flight still count. */
export const countedBy = ({ tools, models, key }: CallLimit) => ({
  ...(tools === undefined ? {} : { tools: tools.toSorted() }),
  ...(models === undefined ? {} : { models: models.toSorted() }),
  ...(key === undefined ? {} : { key }),
});

/** A workspace's permissions for agents and tools, the limits of their calls, and the redaction of outgoing data. */
export const policiesInput = z.strictObject({
  model_allowlist: z
    .array(name)
    .max(500)
    .nullable()
    .default(null)
    .meta({ description: 'Models that agents can use; null: all' }),
  tools: z
    .array(toolPolicySchema)
    .max(200)
    .refine((tools) => unique(tools.map((each) => each.tool)), 'names a tool twice')
    .default([]),
  redaction: redactionSchema.default({ detectors: [], patterns: [] }),
  limits: z
    .array(callLimitSchema)
    .max(50)
    .refine(
      (limits) => unique(limits.map((limit) => JSON.stringify(countedBy(limit)))),
      'has two limits of the same names and key',
    )
    .default([])
    .meta({ description: 'Calls of tools and models beyond a limit wait until one is free' }),
});

export const policiesSchema = policiesInput.meta({ id: 'Policies' });

export type Policies = z.infer<typeof policiesSchema>;
export type ToolPolicy = Policies['tools'][number];
export type CallLimit = z.infer<typeof callLimitSchema>;
export type BlockedArgument = NonNullable<ToolPolicy['blocked_arguments']>[number];

/** The default: everything is allowed and nothing redacted. */
export const unrestricted: Policies = {
  model_allowlist: null,
  tools: [],
  redaction: { detectors: [], patterns: [] },
  limits: [],
};
