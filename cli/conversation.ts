import { isDeepStrictEqual } from 'node:util';
import type { Message, Run, Step } from '#client/index.ts';
import { costOf, printable, type Paint } from './output.ts';

type Of<Role extends Message['role']> = Extract<Message, { role: Role }>;

/** The steps of the graph's nodes, without the turns and calls of agents. */
export const nodeSteps = (steps: readonly Step[]): Step[] =>
  steps.filter((step) => step.parent_step_key === undefined);

/** The agents of a run that have a conversation. */
export const agentsOf = ({ steps }: Pick<Run, 'steps'>): Step[] => {
  const parents = new Set(steps.map((step) => step.parent_step_key));
  return steps.filter((step) => parents.has(step.step_key));
};

/**
 * A conversation as lines: turns with cost and tokens, and calls with arguments, decisions and results, each truncated
 * to the width. `steps` are those of the run.
 */
export function conversationLines(
  agent: Pick<Step, 'step_key' | 'label'>,
  messages: readonly Message[],
  { steps, columns, paint }: { steps: readonly Step[]; columns: number; paint: Paint },
): string[] {
  const line = (inset: number, text: string): string => {
    const plain = printable(text);
    const room = Math.max(1, columns - inset);
    const cut = plain.length > room ? `${plain.slice(0, room - 1)}…` : plain;
    return ' '.repeat(inset) + cut;
  };
  const results = messages.filter((message) => message.role === 'tool');
  const lines = messages.flatMap((message): string[] => {
    switch (message.role) {
      case 'system':
      case 'user':
        return [line(2, `${message.role}: ${message.text}`)];
      case 'assistant':
        return [
          paint('bold', line(2, turnText(message))),
          ...(message.text === '' ? [] : [line(4, message.text)]),
          ...message.calls.flatMap((call) => {
            const result = results.find(
              ({ turn, index }) => turn === message.turn && index === call.index,
            );
            return [
              line(
                4,
                `→ ${call.tool} ${call.arguments === null ? HIDDEN : textOf(call.arguments)}`,
              ),
              ...decisionOn(call, steps).map((text) => line(6, text)),
              paint(result?.is_error === true ? 'red' : 'dim', line(6, resultText(result))),
            ];
          }),
        ];
      case 'tool':
        // Shown with its call.
        return [];
    }
  });
  return [paint('bold', line(0, `${agent.label} (${agent.step_key})`)), ...lines];
}

function turnText({ turn, cost_usd, unpriced, usage }: Of<'assistant'>): string {
  const tokens =
    usage === null ? '' : `, ${usage.input_tokens} tokens in, ${usage.output_tokens} out`;
  const cost = costOf({ cost_usd, unpriced_steps: unpriced === true ? 1 : 0 });
  return `turn ${turn}: ${cost}${tokens}`;
}

/** What an approver or the workflow changed in the arguments, and who decided. */
function decisionOn(call: Of<'assistant'>['calls'][number], steps: readonly Step[]): string[] {
  const step = steps.find(({ step_key }) => step_key === call.step_key);
  if (step === undefined) return [];
  const { decision, input } = step;
  const known = input !== null && call.arguments !== null;
  const changed = known && !isDeepStrictEqual(input, call.arguments);
  const verb = decision?.approved === true ? 'approved' : 'rejected';
  return [
    ...(changed ? [`sent instead: ${textOf(input)}`] : []),
    ...(decision === undefined ? [] : [`${verb} by ${decision.by ?? 'someone unknown'}`]),
  ];
}

function resultText(result: Of<'tool'> | undefined): string {
  if (result === undefined) return 'no result yet';
  const text = textOf(result.content);
  return result.is_error ? `error: ${text}` : text;
}

const HIDDEN = '(arguments that only approvers see)';

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
