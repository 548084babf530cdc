import { Modal, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { JsonObject, Workflow } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAct } from '../../parts/act.ts';
import { Form } from '../../parts/form.tsx';
import { runsKey } from '../../queries/runs.ts';
import { workflowsKey } from '../../queries/workflows.ts';
import { JsonField } from './json-field.tsx';
import { isRecord } from './record.ts';
import { useChecker } from './use-mistakes.ts';

/** Asks for the input of a run, starts it and leads to it. */
export function RunDialog({
  workflow,
  opened,
  onClose,
}: {
  workflow: Workflow;
  opened: boolean;
  onClose: () => void;
}) {
  return (
    <Modal opened={opened} onClose={onClose} title="Run the workflow" size="lg">
      <RunForm workflow={workflow} onClose={onClose} />
    </Modal>
  );
}

function RunForm({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const navigate = useNavigate();
  const checker = useChecker();
  const suggested = useMemo(
    () => Object.fromEntries((checker?.inputKeys(workflow.graph) ?? []).map((key) => [key, ''])),
    [checker, workflow.graph],
  );
  const [typed, setTyped] = useState<JsonObject>();
  const [broken, setBroken] = useState(false);
  const start = useAct((input: JsonObject) => api().triggerRun(workflow.id, input), {
    changes: [runsKey, workflowsKey],
    quiet: true,
    onDone: ({ id }) =>
      void navigate({
        to: '/runs/$runId',
        params: { runId: id },
        search: { step: undefined, tab: undefined },
      }),
  });
  const keys = Object.keys(suggested);
  return (
    <Form
      act={start}
      submit="Run"
      ready={!broken}
      onSubmit={() => start.mutate(typed ?? suggested)}
      onCancel={onClose}
    >
      <JsonField
        label="Input"
        description="A JSON object. Its keys can be read by prompts and expressions."
        value={typed ?? suggested}
        judge={anInput}
        onBroken={setBroken}
        onChange={(value) => setTyped(isRecord(value) ? value : {})}
        minHeight={140}
      />
      <Text size="sm" c="dimmed">
        {keys.length === 0
          ? 'The graph reads nothing that has to come with the input.'
          : 'The keys are those that the graph reads and no node sets.'}
      </Text>
    </Form>
  );
}

const anInput = (value: unknown): string | undefined =>
  isRecord(value) ? undefined : 'The input has to be a JSON object, like {}';
