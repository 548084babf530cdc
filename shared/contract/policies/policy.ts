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
        description: 'As in `tool_name`; `workflow:<id or name>` for runs that a run starts',
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

/** A workspace's permissions for agents and tools, and the redaction of outgoing data. */
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
});

export const policiesSchema = policiesInput.meta({ id: 'Policies' });

export type Policies = z.infer<typeof policiesSchema>;
export type ToolPolicy = Policies['tools'][number];
export type BlockedArgument = NonNullable<ToolPolicy['blocked_arguments']>[number];

/** The default: everything is allowed and nothing redacted. */
export const unrestricted: Policies = {
  model_allowlist: null,
  tools: [],
  redaction: { detectors: [], patterns: [] },
};
