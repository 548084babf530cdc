import { z } from 'zod';
import { jsonObject, jsonValue, timestamp } from '#shared/contract/common.ts';
import { consequencesSchema } from '#shared/contract/gates/consequences.ts';
import {
  decidedByKinds,
  gateDecisionSchema,
  gateKinds,
  gateStatuses,
} from '#shared/contract/gates/gate.ts';
import { policyVerdictSchema } from '#shared/contract/policies/governance.ts';
import { runSummarySchema } from '#shared/contract/runs/run.ts';
import { stepSchema } from '#shared/contract/steps/step.ts';
import { timeoutActions } from '#shared/contract/workflows/approvers.ts';
import { errorKinds } from '#shared/graph/caught-error.ts';

/** The version of the format. It increases when a verifier of an earlier one would misread a file. */
export const EVIDENCE_FORMAT = 1;

export const evidenceQuery = z.strictObject({
  contents: z.enum(['true', 'false']).default('false').meta({
    description: 'Whether inputs, outputs and the state are whole, and not only digests',
  }),
});

const digest = z.string().meta({
  description: 'SHA-256 of the canonical JSON (RFC 8785)',
  examples: ['sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
});
const hash = z.string().meta({ description: 'SHA-256 in hexadecimal' });

/** The first line. */
const headSchema = z
  .object({
    kind: z.literal('evidence'),
    format: z.literal(EVIDENCE_FORMAT),
    made_at: timestamp,
    contents: z.boolean(),
    hides: z.boolean().meta({
      description: 'Whether it hides what only a caller with the capability approve_gates can see',
    }),
    run: runSummarySchema,
    ended: z.boolean(),
    digests: z.object({ input: digest, state: digest.nullable(), output: digest.nullable() }),
    input: jsonObject.optional(),
    state: jsonObject.nullable().optional(),
    output: jsonValue.optional(),
    laid: z.record(z.string(), jsonObject).optional().meta({
      description: 'For a fork: what was merged into the state at steps',
    }),
  })
  .meta({ id: 'EvidenceHead' });

const graphLineSchema = z
  .object({ kind: z.literal('graph'), graph: jsonObject })
  .meta({ id: 'EvidenceGraph' });

const caughtSchema = z.object({
  message: z.string(),
  kind: z.enum(errorKinds),
  attempts: z.int(),
});

const resultsSchema = z
  .object({
    kind: z.literal('results'),
    order: z
      .array(z.string())
      .meta({ description: 'The steps with a result, in the order of their ends' }),
    caught: z
      .record(z.string(), caughtSchema)
      .meta({ description: 'Errors that the run continued after' }),
  })
  .meta({ id: 'EvidenceResults' });

const stepLineSchema = z
  .object({
    kind: z.literal('step'),
    step: stepSchema.omit({ input: true, output: true }),
    digests: z.object({ input: digest, output: digest }),
    input: jsonValue.optional(),
    output: jsonValue.optional(),
  })
  .meta({ id: 'EvidenceStep' });

const gateLineSchema = z
  .object({
    kind: z.literal('gate'),
    step_key: z.string(),
    round: z.int(),
    node_id: z.string(),
    gate_kind: z.enum(gateKinds),
    title: z.string().nullish(),
    prompt: z.string(),
    status: z.enum(gateStatuses),
    opened_at: timestamp,
    decided_at: timestamp.nullable(),
    by_id: z.string().nullable(),
    by: z.string().nullable(),
    by_kind: z.enum(decidedByKinds).nullable(),
    by_link: z.literal(true).optional().meta({
      description: 'It was decided with the link of an email to the member',
    }),
    by_slack: z.literal(true).optional().meta({ description: 'It was decided in Slack' }),
    reason: z.string().nullable(),
    input: jsonObject.nullable().meta({ description: 'What the approvers sent' }),
    timed_out: z.enum(timeoutActions).nullable(),
    decisions: z.array(gateDecisionSchema).nullable(),
    reused_from: z.string().nullable(),
    consequences: consequencesSchema.nullable(),
    tool_call: z
      .object({
        tool: z.string(),
        schema_digest: z.string(),
        tool_digest: z.string().nullable(),
        arguments: jsonObject.nullable(),
        decided_arguments: jsonObject.nullable(),
      })
      .nullable(),
    digest: z.string().nullable(),
    decided_digest: z.string().nullable(),
  })
  .meta({ id: 'EvidenceGate' });

const verdictLineSchema = z
  .object({
    kind: z.literal('verdict'),
    id: z.string(),
    node_id: z.string().nullable(),
    verdict: policyVerdictSchema,
    revision: z.int().nullable().meta({
      description: "Of the workspace's policies; null for a verdict of 1.0.0",
    }),
    created_at: timestamp,
  })
  .meta({ id: 'EvidenceVerdict' });

const chainSchema = z
  .object({
    kind: z.literal('chain'),
    workspace_id: z.string(),
    before: z
      .object({ position: z.int(), hash })
      .meta({ description: 'The seal before the first entry of the run' }),
    to_head: z.boolean().meta({
      description:
        'Whether the seals reach the newest one; otherwise they end with the last entry of the run',
    }),
    swept: z.boolean().meta({
      description: 'Whether retention has removed entries that could be of this run',
    }),
  })
  .meta({ id: 'EvidenceChain' });

const sealsSchema = z
  .object({
    kind: z.literal('seals'),
    first: z.int().meta({ description: 'The position of the first one' }),
    seals: z.array(
      z.object({
        entry: hash.nullable().meta({ description: 'Of its entry; null for a seal of 1.0.0' }),
        hash,
      }),
    ),
  })
  .meta({ id: 'EvidenceSeals' });

const entrySchema = z
  .object({
    kind: z.literal('entry'),
    position: z.int().nullable().meta({ description: 'Null if it is not sealed yet' }),
    entry: z.string().meta({ description: 'The text that is sealed' }),
  })
  .meta({ id: 'EvidenceEntry' });

const endSchema = z
  .object({
    kind: z.literal('end'),
    lines: z.int().meta({ description: 'The number of lines before this one' }),
    digest: z.string().meta({ description: 'Of the bytes of these lines' }),
  })
  .meta({ id: 'EvidenceEnd' });

/** One line of the evidence of a run. */
export const evidenceLineSchema = z
  .discriminatedUnion('kind', [
    headSchema,
    graphLineSchema,
    resultsSchema,
    stepLineSchema,
    gateLineSchema,
    verdictLineSchema,
    chainSchema,
    sealsSchema,
    entrySchema,
    endSchema,
  ])
  .meta({ id: 'EvidenceLine' });

export type EvidenceLine = z.infer<typeof evidenceLineSchema>;
export type EvidenceKind = EvidenceLine['kind'];
export type LineOf<Kind extends EvidenceKind> = Extract<EvidenceLine, { kind: Kind }>;
