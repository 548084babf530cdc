import { Box, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Pin, Step } from '#client/index.ts';
import { nodePanel as text } from '#console/src/messages/en/workflows/editor.ts';
import { nodeTestPanel as tests } from '#console/src/messages/en/workflows/node-tests.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { Message } from '#console/src/messages/message.tsx';
import { TestOptions, TestOutcome } from '#console/src/pages/workflows/node-tests/test-options.tsx';
import type { NodeTesting } from '#console/src/pages/workflows/node-tests/use-node-test.ts';
import { runQuery } from '#console/src/queries/runs.ts';

/** The output of the node: in its test, as pinned, and in the chosen run. */
export function NodeOutput({
  testing,
  item,
  unsaved,
}: {
  testing: NodeTesting;
  item: Step | undefined;
  /** Whether a test saves the draft first. */
  unsaved: boolean;
}) {
  const { pinned, pinFrom } = testing;
  if (pinFrom === '') return <Dimmed>{tests.noRuns}</Dimmed>;
  return (
    <Stack gap="sm">
      <TestOptions testing={testing} />
      {unsaved && <Dimmed size="xs">{text.savedFirst}</Dimmed>}
      <TestOutcome testing={testing} />
      {pinned !== undefined && <PinnedOutput pin={pinned} />}
      {item?.output != null && (
        <Output title={text.ofRun} value={item.output} what={text.theOutput} />
      )}
    </Stack>
  );
}

/** What other tests use as the output of the node. */
function PinnedOutput({ pin }: { pin: Pin }) {
  const { data: run } = useQuery(runQuery(pin.run_id));
  const step = run?.steps.find(({ step_key: key }) => key === pin.step_key);
  return (
    <Box>
      <Title order={3} size="h6">
        {text.pinned}
      </Title>
      <Dimmed size="xs">
        <Message text={text.pinnedAt} values={{ when: <When at={pin.pinned_at} ago /> }} />
      </Dimmed>
      {step?.output != null && <JsonView value={step.output} what={text.thePinned} />}
    </Box>
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
