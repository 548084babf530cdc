import { z } from 'zod';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { SealError, type Sealer } from '#shared/crypto/sealing.ts';
import { AppError } from '#shared/errors.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Actor } from '#shared/people/actor.ts';

/** How long a person has for an answer. */
export const ANSWER_MS = 10 * 60_000;

const questionSchema = z.strictObject({
  /** `form`: the answer decides. `link`: the person decides on a page, and the answer only says that they opened it. */
  kind: z.enum(['form', 'link']),
  run_id: z.string(),
  step_key: z.string(),
  round: z.int(),
  since: z.string(),
  digest: z.string().nullable(),
  /** When the differences were found that the question showed; null if it showed none. */
  stale_at: z.string().nullable(),
  /** The digest of the tool and the arguments of the call that asks. */
  call: z.string(),
  /** How the call got its run. */
  how: z.strictObject({ replayed: z.boolean(), joined: z.literal(true).optional() }),
  /** How often this call has asked, with this question. */
  rounds: z.int(),
  /** The openings whose page the person has opened. */
  linked: z.array(z.string()),
  expires_at: z.int(),
});

/** A question that a call has put to its client's person. It travels through the client, sealed. */
export type Question = z.infer<typeof questionSchema>;

export const callDigestOf = (tool: string, args: unknown): string =>
  jsonDigest({ tool, arguments: args as Json });

/** The question as a text that only this service can open, and only for the same member with the same credential. */
export const sealQuestion = (sealer: Sealer, actor: Actor, question: Question): string =>
  sealer.seal(JSON.stringify(question), placeOf(actor));

/**
 * Opens a question. Throws AppError `invalid` with a sentence if it is forged, of another member or credential, of a call
 * with other arguments, or older than ten minutes.
 */
export function openQuestion(
  sealer: Sealer,
  { actor, call, state, now }: { actor: Actor; call: string; state: string; now: number },
): Question {
  const question = questionSchema.safeParse(unsealed(sealer, actor, state)).data;
  if (question === undefined) throw unknownQuestion();
  if (question.call !== call) {
    throw new AppError(
      'invalid',
      'This answer is for a call with other arguments: repeat the call as it was, with the answer',
    );
  }
  if (question.expires_at <= now) {
    throw new AppError(
      'invalid',
      `This answer came too late: a question is open for ${ANSWER_MS / 60_000} minutes. Nothing was decided. ` +
        `Read the gate of run ${question.run_id} with get_gate`,
    );
  }
  return question;
}

function unsealed(sealer: Sealer, actor: Actor, state: string): unknown {
  try {
    return JSON.parse(sealer.open(state, placeOf(actor)));
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw unknownQuestion(error);
  }
}

const unknownQuestion = (cause?: unknown): AppError =>
  new AppError(
    'invalid',
    'This answer belongs to no question of this service to this member and credential. Nothing was decided',
    { cause },
  );

const placeOf = ({ workspaceId, id, signedIn }: Actor): string =>
  `question of a tool call: ${JSON.stringify({ workspaceId, id, signedIn } as unknown as JsonObject)}`;
