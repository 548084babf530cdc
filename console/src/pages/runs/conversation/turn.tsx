import { Group, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import type { Message } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { argumentsField } from '#console/src/messages/en/gates.ts';
import {
  call as callText,
  conversation as text,
} from '#console/src/messages/en/runs/conversation.ts';
import { exactJson } from '#console/src/parts/code/exact-json.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { changedFields } from '#console/src/parts/data/changed-fields.ts';
import { DecisionForm } from '#console/src/parts/forms/decision-form.tsx';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { wholeCostText } from '#console/src/parts/text/cost.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { ChildLink } from '#console/src/pages/runs/inspector/child-link.tsx';
import { Decided } from '#console/src/pages/runs/inspector/decided.tsx';
import { shownState } from '#console/src/pages/runs/steps/step-state.ts';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';
import { Bubble } from './bubble.tsx';
import { ModelText } from './live-text.tsx';
import type { ConversationCall } from './turns.ts';

type Assistant = Extract<Message, { role: 'assistant' }>;

interface TurnProps {
  runId: string;
  message: Assistant;
  calls: readonly ConversationCall[];
  select: Selection['select'];
}

/** One response of the model: its text, and the calls that it requested. */
export function Turn({ runId, message, calls, select }: TurnProps) {
  return (
    <Bubble title={text.turn(message.turn)} note={figuresOf(message)}>
      <ModelText text={message.text} />
      {calls.map((call) => (
        <Call key={call.call.index} runId={runId} select={select} {...call} />
      ))}
    </Bubble>
  );
}

function figuresOf({ model, usage, cost_usd: usd, unpriced }: Assistant): string {
  const tokens =
    usage === null
      ? undefined
      : text.tokens(countText(usage.input_tokens), countText(usage.output_tokens));
  return [model, tokens, wholeCostText({ usd, unpriced: unpriced === true ? 1 : 0 })]
    .filter(Boolean)
    .join(' · ');
}

function Call({
  runId,
  select,
  call,
  result,
  step,
  gate,
}: ConversationCall & Pick<TurnProps, 'runId' | 'select'>) {
  return (
    <Stack gap="xs" role="group" aria-label={callText.label(call.tool)}>
      <Group gap="xs">
        {step === undefined ? (
          <Text size="sm" fw={600}>
            <UserText>{call.tool}</UserText>
          </Text>
        ) : (
          <UnstyledButton fz="sm" fw={600} td="underline" onClick={() => select(step.step_key)}>
            <UserText>{call.tool}</UserText>
          </UnstyledButton>
        )}
        {call.refusal !== null && (
          <Tag color="danger" size="sm">
            {callText.refused}
          </Tag>
        )}
        {step !== undefined && <StateBadge state={shownState(step)} size="sm" />}
      </Group>
      {gate === undefined ? (
        <SimpleGrid type="container" cols={{ base: 1, '400px': 2 }} spacing="xs">
          <Arguments call={call} step={step} />
          <Result call={call} result={result} />
        </SimpleGrid>
      ) : (
        <DecisionForm runId={runId} gate={gate} />
      )}
      {step !== undefined && <ChildLink step={step} />}
      {step?.decision !== undefined && <Decided decision={step.decision} />}
    </Stack>
  );
}

function Arguments({ call, step }: Pick<ConversationCall, 'call' | 'step'>) {
  const sent = sentInstead(call.arguments, step?.input);
  const shown = typeof call.arguments === 'string' ? call.arguments : exactJson(call.arguments);
  return (
    <Stack gap={4} miw={0}>
      <Dimmed size="xs">{callText.arguments}</Dimmed>
      {call.arguments === null ? (
        <Dimmed>{argumentsField.mayNotView}</Dimmed>
      ) : (
        <JsonView value={shown} what={callText.argumentsOf(call.tool)} />
      )}
      {sent !== undefined && (
        <>
          <Dimmed size="xs">{callText.sentInstead}</Dimmed>
          <JsonView value={exactJson(sent)} what={callText.sentTo(call.tool)} />
        </>
      )}
    </Stack>
  );
}

/** What was sent, if it differs from what the model sent: an approver or the workflow can change it. */
function sentInstead(given: unknown, sent: unknown): object | undefined {
  if (!isObject(given) || !isObject(sent)) return undefined;
  return changedFields(given, sent).length === 0 ? undefined : sent;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function Result({ call, result }: Pick<ConversationCall, 'call' | 'result'>) {
  const failed = result?.is_error === true;
  return (
    <Stack gap={4} miw={0}>
      <Text size="xs" {...(failed ? { fw: 600 } : { c: 'dimmed' })}>
        {failed ? words.error : words.result}
      </Text>
      {result === undefined ? (
        <Dimmed>{callText.noResult}</Dimmed>
      ) : (
        <JsonView value={result.content} what={callText.resultOf(call.tool)} />
      )}
    </Stack>
  );
}
