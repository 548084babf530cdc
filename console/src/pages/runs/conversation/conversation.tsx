import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Message, Run, Step } from '#client/index.ts';
import { conversation as texts } from '#console/src/messages/en/runs/conversation.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { useLiveAnswer } from '#console/src/queries/live-answers.ts';
import { messagesQuery } from '#console/src/queries/runs.ts';
import { Part } from '#console/src/pages/runs/part.tsx';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';
import { Bubble, Said } from './bubble.tsx';
import { LiveText } from './live-text.tsx';
import { Turn } from './turn.tsx';
import { conversationOf } from './turns.ts';

interface ConversationProps {
  run: Run;
  /** The step of the agent. */
  agent: Step;
  select: Selection['select'];
}

/** What an agent and its model said, turn by turn, and the answer of the current turn as it arrives. */
export function Conversation(props: ConversationProps) {
  const query = useQuery(messagesQuery(props.run.id, props.agent.step_key));
  return (
    <Part title={texts.title}>
      <Loaded query={query}>{(messages) => <Turns messages={messages} {...props} />}</Loaded>
    </Part>
  );
}

function Turns({
  messages,
  run,
  agent,
  select,
}: ConversationProps & { messages: readonly Message[] }) {
  const { prompts, turns } = conversationOf(messages, run);
  const last = turns.at(-1)?.message.turn ?? 0;
  return (
    <Stack gap="sm">
      {prompts.map(({ role, text }) => (
        <Bubble key={role} title={role === 'system' ? texts.systemPrompt : texts.prompt}>
          <Said text={text} />
        </Bubble>
      ))}
      {turns.map(({ message, calls }) => (
        <Turn key={message.turn} runId={run.id} message={message} calls={calls} select={select} />
      ))}
      {agent.status === 'running' && <LiveTurn agent={agent} last={last} />}
    </Stack>
  );
}

/** The current answer. The stored message replaces it once its turn has ended. */
function LiveTurn({ agent, last }: Pick<ConversationProps, 'agent'> & { last: number }) {
  const live = useLiveAnswer(agent.step_key);
  if (live === undefined || live.turn <= last) return null;
  return (
    <Bubble title={texts.turn(live.turn)}>
      <LiveText answer={live} />
    </Bubble>
  );
}
