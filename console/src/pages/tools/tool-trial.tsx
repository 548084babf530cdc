import { Alert, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { CustomTool, JsonObject, ToolTest } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { toolTrial as texts } from '#console/src/messages/en/workspace/tools.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { parsedObject } from '#console/src/pages/workspace/parsed-object.ts';

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
        submit={texts.test}
        onSubmit={() => {
          if ('value' in parsed) trial.mutate(parsed.value);
        }}
        ready={'value' in parsed}
      >
        <CodeEditor
          label={texts.arguments}
          description={texts.aboutArguments}
          language="json"
          value={text}
          onChange={setText}
          minHeight={80}
          error={'problem' in parsed ? texts.problems[parsed.problem] : undefined}
        />
      </Form>
      {trial.data !== undefined && <Outcome test={trial.data} />}
    </Stack>
  );
}

function Omitted({ test: { omitted_headers: omitted } }: { test: ToolTest }) {
  if (omitted.length === 0) return null;
  return (
    <Text size="xs" mb="xs">
      {texts.omitted(omitted.join(', '))}
    </Text>
  );
}

function Outcome({ test }: { test: ToolTest }) {
  const duration = durationText(test.duration_ms);
  const took = test.status === null ? duration : texts.tookWithStatus(duration, test.status);
  if (!test.ok) {
    return (
      <Alert color="danger" title={texts.failed} role="status">
        <UserText>{test.error ?? texts.noError}</UserText>
        <Text size="xs">{took}</Text>
        <Omitted test={test} />
      </Alert>
    );
  }
  return (
    <Alert color="success" title={texts.succeeded} role="status">
      <Text size="xs" mb="xs">
        {took}
      </Text>
      <Omitted test={test} />
      <JsonView value={test.result} what={texts.whatResult} />
    </Alert>
  );
}
