import { Paper, Stack, Text, Title } from '@mantine/core';
import type { EarlierAsking, Gate, Step } from '#client/index.ts';
import { earlierDecision as texts } from '#console/src/messages/en/approvals.ts';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { DecisionText } from '#console/src/parts/forms/gate-rules.tsx';
import { ChangedText } from '#console/src/parts/text/changed-text.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/**
 * The last time that the gate asked in this run: who decided, with what reason, and what has changed since then in the
 * prompt, the arguments and the outputs before it. Renders nothing for a gate that asks for the first time.
 */
export function EarlierDecision({
  gate,
  values,
  earlierValues,
}: {
  gate: Gate;
  /** The steps before the gate, now and at that time. */
  values: readonly Step[];
  earlierValues: readonly Step[];
}) {
  const [last, ...others] = gate.earlier;
  if (last === undefined) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-label={texts.title}>
      <Stack gap="xs">
        <Title order={3} size="h6">
          {texts.title}
        </Title>
        <Decision asking={last} />
        <Changes gate={gate} last={last} values={values} earlierValues={earlierValues} />
        {others.length > 0 && (
          <details>
            <Text component="summary" size="sm">
              {texts.earlier(countText(others.length))}
            </Text>
            {others.map((asking) => (
              <Decision key={`${asking.step_key} ${asking.round}`} asking={asking} />
            ))}
          </details>
        )}
      </Stack>
    </Paper>
  );
}

function Decision({ asking: { decision } }: { asking: EarlierAsking }) {
  return (
    <Text size="sm">
      <DecisionText decision={decision} ago />
    </Text>
  );
}

function Changes({
  gate,
  last,
  values,
  earlierValues,
}: {
  gate: Gate;
  last: EarlierAsking;
  values: readonly Step[];
  earlierValues: readonly Step[];
}) {
  const before = last.decided_arguments ?? last.arguments;
  const changes = [
    ...(before != null && gate.arguments != null ? changesOf(before, gate.arguments) : []),
    ...changesOf(outputsOf(earlierValues), outputsOf(values)),
  ];
  const samePrompt = gate.prompt === last.prompt;
  // The prompt of a tool call repeats its arguments.
  const isCall = gate.kind === 'tool_call';
  if ((samePrompt || isCall) && changes.length === 0) {
    return <Dimmed>{texts.unchanged}</Dimmed>;
  }
  return (
    <Stack gap={4} role="group" aria-label={texts.changed}>
      <Dimmed size="xs">{texts.changed}</Dimmed>
      {!samePrompt && !isCall && <ChangedText before={last.prompt} after={gate.prompt} />}
      <ChangedPaths changes={changes} />
    </Stack>
  );
}

/** Outputs by the name of the node. */
const outputsOf = (steps: readonly Step[]): Record<string, unknown> =>
  Object.fromEntries(steps.map(({ label, output }) => [label, output]));
