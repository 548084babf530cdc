import { Checkbox, Group, Text } from '@mantine/core';
import { nodeTestPanel as text } from '#console/src/messages/en/workflows/node-tests.ts';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { TestResult } from './test-result.tsx';
import type { NodeTesting } from './use-node-test.ts';

/** What a test may execute, and whose pinned outputs it uses. */
export function TestOptions({ testing }: { testing: NodeTesting }) {
  const { allowances, allow, setAllow, others, withPins, setWithPins } = testing;
  return (
    <>
      {allowances.length > 0 && (
        <Checkbox.Group
          label={text.allow}
          description={text.allowAbout}
          value={allow}
          onChange={setAllow}
        >
          <Group gap="sm" mt={4}>
            {allowances.map((name) => (
              <Checkbox key={name} value={name} label={name} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      {others.length > 0 && (
        <Checkbox
          label={text.usePins(others.join(', '))}
          checked={withPins}
          onChange={(event) => setWithPins(event.currentTarget.checked)}
        />
      )}
    </>
  );
}

/** Why the last test was refused, or what it did. */
export const TestOutcome = ({ testing: { test } }: { testing: NodeTesting }) => (
  <>
    {test.isError && (
      <Text size="sm" c="danger" role="alert">
        {describeError(test.error)}
      </Text>
    )}
    {test.data !== undefined && <TestResult tested={test.data} />}
  </>
);
