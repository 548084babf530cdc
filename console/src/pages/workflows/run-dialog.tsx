import { FocusTrap, Modal } from '@mantine/core';
import { useState } from 'react';
import type { JsonObject, Run, Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runDialog as text } from '#console/src/messages/en/workflows/workflow.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { isOverBudget } from '#console/src/parts/text/budget-link.tsx';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { workflowsKey } from '#console/src/queries/workflows.ts';
import { DryRunPanel } from './dry-run-panel.tsx';
import { Problems } from './mistakes/problems.tsx';
import { useVersionMistakes } from './mistakes/use-mistakes.ts';
import { RunInput, useSuggestedInput } from './run-input.tsx';
import { useOpenRun } from '#console/src/parts/open-run.ts';

/** Asks for the input of a run, starts the run and opens it. */
export function RunDialog({
  workflow,
  input,
  again,
  opened,
  onClose,
}: {
  workflow: Workflow;
  /** The initial input; by default, the keys that the graph reads. */
  input?: JsonObject;
  /** The run that is started again. */
  again?: string;
  opened: boolean;
  onClose: () => void;
}) {
  return (
    <Modal opened={opened} onClose={onClose} title={text.title} size="lg">
      {/* The next key leads to the first field, and none closes the dialog. */}
      <FocusTrap.InitialFocus />
      <RunForm workflow={workflow} given={input} again={again} onClose={onClose} />
    </Modal>
  );
}

function RunForm({
  workflow,
  given,
  again,
  onClose,
}: {
  workflow: Workflow;
  given: JsonObject | undefined;
  again: string | undefined;
  onClose: () => void;
}) {
  const openRun = useOpenRun();
  const suggested = useSuggestedInput(workflow);
  const checked = useVersionMistakes(workflow);
  const [typed, setTyped] = useState(given);
  const [broken, setBroken] = useState(false);
  const input = typed ?? suggested;
  const send = (): Promise<Run> =>
    again === undefined
      ? api().triggerRun(workflow.id, input)
      : api().rerun(again, { input, version: workflow.version });
  const start = useAction(send, {
    changes: [runsKey, workflowsKey],
    quiet: true,
    onDone: ({ id }) => openRun(id),
  });
  return (
    <Form action={start} submit={words.run} ready={!broken} onCancel={onClose}>
      <Problems checked={checked} title={text.problems} />
      <RunInput
        label={words.input}
        schema={workflow.input_schema}
        refusal={start.error === null ? undefined : describeError(start.error)}
        value={input}
        suggested={suggested}
        onChange={setTyped}
        onBroken={setBroken}
      />
      {/* What the service has refused, the form says. */}
      {!isOverBudget(start.error) && (
        <DryRunPanel
          workflow={workflow}
          input={input}
          version={again === undefined ? undefined : workflow.version}
        />
      )}
    </Form>
  );
}
