import { Alert, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { CustomTool, JsonObject, ToolTest } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { toolTrial as texts } from '#console/src/messages/en/workspace/tools.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { startOfSchema } from '#console/src/parts/forms/schema-fields.ts';
import { SchemaForm } from '#console/src/parts/forms/schema-form.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { SignInNeeded } from './sign-in-needed.tsx';

/** A tool has 25 seconds to respond to a test. */
const WITHIN_SECONDS = 30;
const NO_SCHEMA: JsonObject = {};

/** Sends one real call to the tool. */
export function ToolTrial({ tool }: { tool: CustomTool }) {
  const schema = tool.input_schema ?? NO_SCHEMA;
  const [given, setGiven] = useState(() => startOfSchema(schema));
  const [broken, setBroken] = useState(false);
  const trial = useAction(
    (values: JsonObject) => api().testTool(tool.id, values, { timeout: WITHIN_SECONDS }),
    { changes: [], quiet: true },
  );
  return (
    <Stack gap="sm">
      <Form action={trial} submit={texts.test} onSubmit={() => trial.mutate(given)} ready={!broken}>
        <Dimmed size="sm">{texts.aboutArguments}</Dimmed>
        <SchemaForm
          label={texts.arguments}
          name="arguments"
          schema={schema}
          value={given}
          onChange={setGiven}
          onBroken={setBroken}
          refusal={trial.data?.error ?? undefined}
        />
      </Form>
      {trial.data !== undefined && <Outcome test={trial.data} />}
      {trial.data !== undefined && trial.data.needs_sign_in !== null && (
        <SignInNeeded needed={trial.data.needs_sign_in} chosen={undefined} />
      )}
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
