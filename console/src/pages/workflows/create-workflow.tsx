import { Modal, SegmentedControl } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Graph } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { createWorkflow as text } from '#console/src/messages/en/workflows/workflow-list.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { workflowsKey } from '#console/src/queries/workflows.ts';
import { JsonField } from '#console/src/parts/forms/json-field.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { aGraph } from './editor/json-panel.tsx';
import { NameFields } from './name-fields.tsx';

const EMPTY: Graph = { nodes: [], edges: [] };

/** Creates a workflow, empty or from JSON, and opens it in the editor. */
export function CreateWorkflow({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title={text.title} size="lg">
      <CreateForm onClose={onClose} />
    </Modal>
  );
}

function CreateForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const form = useForm({ initialValues: { name: '', description: '', from: 'empty' } });
  const { name, description, from } = form.values;
  const [graph, setGraph] = useState<Graph>();
  const [broken, setBroken] = useState(false);
  const create = useAction(
    () =>
      api().createWorkflow({
        name,
        description,
        graph: from === 'json' ? (graph ?? EMPTY) : EMPTY,
      }),
    {
      changes: [workflowsKey],
      quiet: true,
      onDone: ({ id }) =>
        void navigate({ to: '/workflows/$workflowId/edit', params: { workflowId: id } }),
    },
  );
  return (
    <Form
      action={create}
      submit={text.create}
      ready={name.trim() !== '' && (from === 'empty' || (graph !== undefined && !broken))}
      onCancel={onClose}
    >
      <NameFields form={form} first maxRows={6} />
      <SegmentedControl
        aria-label={text.startFrom}
        data={[
          { value: 'empty', label: text.empty },
          { value: 'json', label: text.fromJson },
        ]}
        {...form.getInputProps('from')}
      />
      {from === 'json' ? (
        <JsonField
          label={words.graph}
          description={text.graphAbout}
          value={graph}
          judge={aGraph}
          onBroken={setBroken}
          minHeight={160}
          onChange={(value) => setGraph(value as Graph)}
        />
      ) : (
        <Dimmed>{text.startsEmpty}</Dimmed>
      )}
    </Form>
  );
}
