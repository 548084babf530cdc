import type { AssistantContent, ModelMessage, ToolResultPart } from 'ai';
import type {
  CallResult,
  Conversation,
  ModelTurn,
  RequestedCall,
  VerbatimPart,
} from '#shared/agents/conversation.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';

type Turn = Conversation['turns'][number];
type Part = Exclude<AssistantContent, string>[number];

/** A conversation as the SDK's messages. `model` is the model to call: it gets its own turns back verbatim. */
export function messagesOf(
  { prompt, turns }: Conversation,
  model: string,
  tools: readonly OfferedTool[],
): ModelMessage[] {
  const offered = new Map(tools.map(({ name, providerName }) => [name, providerName]));
  const named = (tool: string): string => offered.get(tool) ?? spelled(tool);
  const id = idsFor(model);
  return [
    { role: 'user', content: prompt },
    ...turns.flatMap((turn): ModelMessage[] => {
      const content = partsOf(turn, model, (call) => callPart(call, id, named));
      if (content.length === 0) return [];
      const said: ModelMessage = { role: 'assistant', content };
      if (turn.results.length === 0) return [said];
      return [
        said,
        { role: 'tool', content: turn.results.map((result) => resultPart(result, id, named)) },
      ];
    }),
  ];
}

function partsOf(turn: Turn, model: string, called: (call: RequestedCall) => Part): Part[] {
  const verbatim = turn.verbatim?.model === model ? turn.verbatim.parts : plainParts(turn);
  return verbatim.flatMap((part): Part[] => {
    const options = part.metadata === undefined ? {} : { providerOptions: part.metadata };
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text, ...options } as Part];
      case 'thought':
        return [{ type: 'reasoning', text: part.text, ...options } as Part];
      case 'call': {
        const call = turn.calls.find(({ index }) => index === part.index);
        return call === undefined ? [] : [{ ...called(call), ...options } as Part];
      }
    }
  });
}

const plainParts = ({ text, calls }: ModelTurn): VerbatimPart[] => [
  ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ...calls.map(({ index }) => ({ type: 'call' as const, index })),
];

const callPart = (
  { id, tool, given }: RequestedCall,
  idFor: (id: string) => string,
  named: (tool: string) => string,
): Part => ({
  type: 'tool-call',
  toolCallId: idFor(id),
  toolName: named(tool),
  // Providers accept only objects; the result of the call quotes the text.
  input: typeof given === 'string' ? {} : given,
});

const resultPart = (
  { id, tool, content, isError }: CallResult,
  idFor: (id: string) => string,
  named: (tool: string) => string,
): ToolResultPart => ({
  type: 'tool-result',
  toolCallId: idFor(id),
  toolName: named(tool),
  output:
    typeof content === 'string'
      ? { type: isError ? 'error-text' : 'text', value: content }
      : { type: isError ? 'error-json' : 'json', value: content },
});

/** A name that is not offered, in the characters and length that providers accept. */
const spelled = (tool: string): string => tool.replace(/[^\w-]/g, '_').slice(0, 64) || 'unknown';

/** Anthropic rejects ids with other characters, which calls of a fallback model can have. */
const idsFor = (model: string) => (id: string) =>
  model.startsWith('anthropic/') ? id.replace(/[^\w-]/g, '_') : id;
