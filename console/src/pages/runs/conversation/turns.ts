import type { Message, PendingGate, Run, Step } from '#client/index.ts';

type Of<Role extends Message['role']> = Extract<Message, { role: Role }>;

/** A call of a turn, with everything that the page knows about it. */
export interface ConversationCall {
  call: Of<'assistant'>['calls'][number];
  /** Undefined while the call is waiting or in progress. */
  result: Of<'tool'> | undefined;
  /** Undefined for a refused call, and until the call is made. */
  step: Step | undefined;
  /** Set while the call waits for approval. */
  gate: PendingGate | undefined;
}

export interface Conversation {
  prompts: Of<'system' | 'user'>[];
  turns: { message: Of<'assistant'>; calls: ConversationCall[] }[];
}

/** The messages of an agent as turns: each call has its result, step and gate. */
export function conversationOf(
  messages: readonly Message[],
  { steps, pending_gates: gates }: Pick<Run, 'steps' | 'pending_gates'>,
): Conversation {
  const byKey = new Map(steps.map((step) => [step.step_key, step]));
  const gateOf = new Map(gates.map((gate) => [gate.step_key, gate]));
  const results = new Map(
    messages
      .filter((message) => message.role === 'tool')
      .map((message) => [`${message.turn}.${message.index}`, message]),
  );
  return {
    prompts: messages.filter(({ role }) => role === 'system' || role === 'user') as Of<
      'system' | 'user'
    >[],
    turns: messages
      .filter((message) => message.role === 'assistant')
      .map((message) => ({
        message,
        calls: message.calls.map((call) => ({
          call,
          result: results.get(`${message.turn}.${call.index}`),
          step: byKey.get(call.step_key ?? ''),
          gate: gateOf.get(call.step_key ?? ''),
        })),
      })),
  };
}
