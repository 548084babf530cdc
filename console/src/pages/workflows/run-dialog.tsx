import { Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { JsonObject, Workflow } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { Form } from '../../parts/forms/form.tsx';
import { describeError } from '../../parts/text/describe-error.ts';
import { runsKey } from '../../queries/runs.ts';
import { workflowsKey } from '../../queries/workflows.ts';
import { RunInput, useSuggestedInput } from './run-input.tsx';

/** Asks for the input of a run, starts the run and opens it. */
export function RunDialog({
  workflow,
  input,
  opened,
  onClose,
}: {
  workflow: Workflow;
  /** The initial input; by default the keys that the graph reads. */
  input?: JsonObject;
  opened: boolean;
  onClose: () => void;
}) {
  return (
    <Modal opened={opened} onClose={onClose} title="Run workflow" size="lg">
      <RunForm workflow={workflow} given={input} onClose={onClose} />
    </Modal>
  );
}

function RunForm({
  workflow,
  given,
  onClose,
}: {
  workflow: Workflow;
  given: JsonObject | undefined;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const suggested = useSuggestedInput(workflow);
  const [typed, setTyped] = useState(given);
  const [broken, setBroken] = useState(false);
  const input = typed ?? suggested;
  const start = useAction(() => api().triggerRun(workflow.id, input), {
    changes: [runsKey, workflowsKey],
    quiet: true,
    onDone: ({ id }) =>
      void navigate({
        to: '/runs/$runId',
        params: { runId: id },
        search: { step: undefined, tab: undefined },
      }),
  });
  return (
    <Form
      action={start}
      submit="Run"
      ready={!broken}
      onSubmit={() => start.mutate(undefined)}
      onCancel={onClose}
    >
      <RunInput
        label="Input"
        schema={workflow.input_schema}
        refusal={start.error === null ? undefined : describeError(start.error)}
        value={input}
        suggested={suggested}
        onChange={setTyped}
        onBroken={setBroken}
      />
    </Form>
  );
}
