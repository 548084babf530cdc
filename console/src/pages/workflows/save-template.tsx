import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { JsonObject, Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { saveTemplate as text } from '#console/src/messages/en/workflows/workflow.ts';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { templatesQuery } from '#console/src/queries/workspace.ts';
import { RunInput, useSuggestedInput } from './run-input.tsx';
import { NameFields } from './name-fields.tsx';

/** Creates a template of the workflow's current graph and checks for the workspace. */
export function SaveTemplate({ workflow }: { workflow: Workflow }) {
  return (
    <ModalButton label={text.open} title={text.title} width="lg">
      {(close) => <TemplateForm workflow={workflow} onClose={close} />}
    </ModalButton>
  );
}

function TemplateForm({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const navigate = useNavigate();
  const suggested = useSuggestedInput(workflow);
  const form = useForm({
    initialValues: { name: workflow.name, description: workflow.description },
  });
  const [typed, setTyped] = useState<JsonObject>();
  const [broken, setBroken] = useState(false);
  const sample = typed ?? suggested;
  const save = useAction(
    () =>
      api().createTemplate({
        workflow_id: workflow.id,
        ...form.values,
        sample_input: sample,
      }),
    {
      changes: [templatesQuery.queryKey],
      done: text.saved,
      quiet: true,
      onDone: () => void navigate({ to: '/templates' }),
    },
  );
  return (
    <Form
      action={save}
      submit={text.save}
      ready={!broken && form.values.name.trim() !== ''}
      onCancel={onClose}
    >
      <NameFields form={form} />
      <RunInput
        label={text.sampleInput}
        schema={workflow.input_schema}
        value={sample}
        suggested={suggested}
        onChange={setTyped}
        onBroken={setBroken}
      />
    </Form>
  );
}
