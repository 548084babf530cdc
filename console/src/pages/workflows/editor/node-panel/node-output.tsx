import { Box, Stack, Title } from '@mantine/core';
import type { Step } from '#client/index.ts';
import { nodePanel as text } from '#console/src/messages/en/workflows/editor.ts';
import { nodeTestPanel as tests } from '#console/src/messages/en/workflows/node-tests.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { TestOptions, TestOutcome } from '#console/src/pages/workflows/node-tests/test-options.tsx';
import type { NodeTesting } from '#console/src/pages/workflows/node-tests/use-node-test.ts';
import { PinnedOutput } from './pinned-output.tsx';

/** The output of the node: in its test, as pinned, and in the chosen run. */
export function NodeOutput({
  workflowId,
  testing,
  item,
  unsaved,
}: {
  workflowId: string;
  testing: NodeTesting;
  item: Step | undefined;
  /** Whether a test saves the draft first. */
  unsaved: boolean;
}) {
  const { pinned, pinFrom, canTest } = testing;
  if (pinFrom === '' && !canTest) return <Dimmed>{tests.noRuns}</Dimmed>;
  return (
    <Stack gap="sm">
      <TestOptions testing={testing} />
      {unsaved && <Dimmed size="xs">{text.savedFirst}</Dimmed>}
      <TestOutcome testing={testing} />
      {pinned !== undefined && (
        <PinnedOutput key={pinned.pinned_at} workflowId={workflowId} pin={pinned} />
      )}
      {item?.output != null && (
        <Output title={text.ofRun} value={item.output} what={text.theOutput} />
      )}
    </Stack>
  );
}

const Output = ({ title, value, what }: { title: string; value: unknown; what: string }) => (
  <Box>
    <Title order={3} size="h6">
      {title}
    </Title>
    <JsonView value={value} what={what} />
  </Box>
);
