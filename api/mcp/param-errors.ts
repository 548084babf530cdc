import { INTERNAL_ERROR, INVALID_PARAMS } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { describeIssues } from '#api/http/invalid-request.ts';

const issues = z.array(
  z.looseObject({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
);
const failure = z.looseObject({
  error: z.looseObject({ code: z.literal(INTERNAL_ERROR), message: z.string() }),
});

/**
 * The text of a response, with invalid params reported as such. The library reports them as internal errors (-32603)
 * with the schema issues as the message, although JSON-RPC has -32602 for errors of the caller.
 */
export function withParamErrors(text: string): string {
  // Returns nearly all responses early, because parsing each would cost as much as creating it.
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

/** Undefined when the message is not a list of issues. */
function issuesIn(message: string): z.infer<typeof issues> | undefined {
  if (!message.startsWith('[')) return undefined;
  try {
    return issues.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}
