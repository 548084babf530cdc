/** Messages for the conversation of an agent. */
export const conversation = {
  title: 'Conversation',
  systemPrompt: 'System prompt',
  prompt: 'Prompt',
  turn: (turn: number) => `Turn ${turn}`,
  answering: 'Answering…',
  answeringAt: (speed: string) => `Answering… about ${speed} tokens per second`,
  tokens: (given: string, written: string) => `${given} tokens in, ${written} out`,
} as const;

/** Messages for a step without an output. */
export const stepOutput = {
  notFinished: 'Not finished yet',
  skipped: 'Skipped, so there is no output',
  noAnswer: 'No answer',
  noOutput: 'No output',
} as const;

/** Messages for a call in a conversation. */
export const call = {
  label: (tool: string) => `Call ${tool}`,
  refused: 'Refused',
  arguments: 'Arguments',
  argumentsOf: (tool: string) => `the arguments of ${tool}`,
  sentInstead: 'Sent instead',
  sentTo: (tool: string) => `what was sent to ${tool}`,
  noResult: 'No result yet',
  resultOf: (tool: string) => `the result of ${tool}`,
} as const;
