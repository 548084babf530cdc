import { Text } from '@mantine/core';
import type { Step } from '#client/index.ts';
import { childLink as text } from '#console/src/messages/en/runs/inspector.ts';
import { Message } from '#console/src/messages/message.tsx';
import { RunLink } from '#console/src/parts/links.tsx';

/** Links a step to the run that it started. */
export function ChildLink({ step: { child_run_id: runId, paused_child } }: { step: Step }) {
  if (runId === undefined) return null;
  const link = <RunLink run={runId}>{text.open}</RunLink>;
  return (
    <Text size="sm">
      {paused_child === true ? <Message text={text.paused} values={{ run: link }} /> : link}
    </Text>
  );
}
