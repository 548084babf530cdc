import type { Json } from '#shared/json.ts';

const MAX_QUESTION = 1_000;
/** The maximum length of the redacted arguments in an event of a run, in characters. */
const MAX_REDACTED = 20_000;

/** What approvers are asked about a call, and the arguments for events. The given arguments are redacted. */
export function askAbout(tool: string, args: Json): { question: string; redacted: Json } {
  const text = JSON.stringify(args);
  const short = text.length > MAX_QUESTION ? `${text.slice(0, MAX_QUESTION)}…` : text;
  return {
    question: `Call ${tool} with ${short}?`.toWellFormed(),
    redacted: text.length > MAX_REDACTED ? null : args,
  };
}
