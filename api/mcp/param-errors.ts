import { INTERNAL_ERROR, INVALID_PARAMS } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { describeIssues } from '../http/invalid-request.ts';

const issues = z.array(
  z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
);
const failure = z.looseObject({
  error: z.looseObject({ code: z.literal(INTERNAL_ERROR), message: z.string() }),
});

/**
 * The text of an answer, with invalid params told as such. The library tells them as internal errors (-32603) whose
 * message is the list of issues that its schemas found; JSON-RPC has -32602 for what the caller did wrong.
 */
export function withParamErrors(text: string): string {
  // Nearly all answers: taking each of them apart would cost as much as making it did.
  if (!text.includes(`"code":${INTERNAL_ERROR}`)) return text;
  const answer = JSON.parse(text) as unknown;
  return JSON.stringify(Array.isArray(answer) ? answer.map(correct) : correct(answer));
}

function correct(answer: unknown): unknown {
  const { data } = failure.safeParse(answer);
  const found = data && issuesIn(data.error.message);
  if (found === undefined) return answer;
  return {
    ...data,
    error: { ...data?.error, code: INVALID_PARAMS, message: describeIssues('request', found) },
  };
}

/** Undefined when the message is in words. */
function issuesIn(message: string): z.infer<typeof issues> | undefined {
  if (!message.startsWith('[')) return undefined;
  try {
    return issues.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}
