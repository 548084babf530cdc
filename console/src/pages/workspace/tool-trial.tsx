import { Alert, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { CustomTool, JsonObject, ToolTest } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { CodeEditor } from '../../parts/code/code-editor.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { Form } from '../../parts/forms/form.tsx';
import { JsonView } from '../../parts/code/json-view.tsx';
import { durationText } from '../../parts/text/duration.ts';
import { parsedObject } from './parsed-object.ts';

/** A tool has 25 seconds to respond to a test. */
const WITHIN_SECONDS = 30;

/** Sends one real call to the tool. */
export function ToolTrial({ tool }: { tool: CustomTool }) {
  const [text, setText] = useState('{}');
  const parsed = parsedObject(text);
  const trial = useAction(
    (given: JsonObject) => api().testTool(tool.id, given, { timeout: WITHIN_SECONDS }),
    { changes: [], quiet: true },
  );
  return (
    <Stack gap="sm">
      <Form
        action={trial}
        submit="Test tool"
        onSubmit={() => {
          if ('value' in parsed) trial.mutate(parsed.value);
        }}
        ready={'value' in parsed}
      >
        <CodeEditor
          label="Arguments (JSON)"
          description="Makes one real call without retries. Policies apply, and the call is logged in the audit log."
          language="json"
          value={text}
          onChange={setText}
          minHeight={80}
          error={'problem' in parsed ? parsed.problem : undefined}
        />
      </Form>
      {trial.data !== undefined && <Outcome test={trial.data} />}
    </Stack>
  );
}

function Outcome({ test }: { test: ToolTest }) {
  const status = test.status === null ? '' : `, status ${test.status}`;
  const took = `${durationText(test.duration_ms)}${status}`;
  if (!test.ok) {
    return (
      <Alert color="red" title="Test failed" role="status">
        <UserText>{test.error ?? 'No error message'}</UserText>
        <Text size="xs">{took}</Text>
      </Alert>
    );
  }
  return (
    <Alert color="teal" title="Test succeeded" role="status">
      <Text size="xs" mb="xs">
        {took}
      </Text>
      <JsonView value={test.result} what="the result" />
    </Alert>
  );
}
