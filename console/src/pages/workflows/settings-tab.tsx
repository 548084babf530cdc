import { Box, Button, NumberInput, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Workflow } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { Copy } from '../../parts/code/copy.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { Form } from '../../parts/forms/form.tsx';
import { countText, dollarsText } from '../../parts/text/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { useMay } from '../../queries/identity.ts';
import { runsKey } from '../../queries/runs.ts';
import { schedulesKey } from '../../queries/schedules.ts';
import { workflowsKey, workflowsQuery } from '../../queries/workflows.ts';
import { SaveTemplate } from './save-template.tsx';
import { NameFields } from './name-fields.tsx';

/** The name of a workflow, the cost cap of its runs, and its deletion. */
export function SettingsTab({ workflow }: { workflow: Workflow }) {
  const mayEdit = useMay('create_edit_workflows');
  const mayDelete = useMay('delete_workflows');
  return (
    <Stack gap="xl" maw={560}>
      <Section title="General">
        {mayEdit ? <AboutForm workflow={workflow} /> : <AboutText workflow={workflow} />}
        <Text size="sm" c="dimmed">
          Workflow ID: {workflow.id} <Copy text={workflow.id} what="the workflow ID" />
        </Text>
      </Section>
      {mayEdit && (
        <Section title="Template">
          <Text size="sm">
            Save the current graph and checks as a template that others can start from.
          </Text>
          <Box>
            <SaveTemplate workflow={workflow} />
          </Box>
        </Section>
      )}
      {mayDelete && (
        <Section title="Delete">
          <Text size="sm">
            Deletes the workflow with its versions and runs. You cannot undo this.
          </Text>
          <DeleteButton workflow={workflow} />
        </Section>
      )}
    </Stack>
  );
}

function AboutText({ workflow: { run_cap_usd: cap } }: { workflow: Workflow }) {
  return (
    <Text size="sm">
      {cap === null ? 'Runs have no cost cap.' : `Cost cap per run: ${dollarsText(cap)}.`} You need
      the create_edit_workflows permission to change it.
    </Text>
  );
}

function AboutForm({ workflow }: { workflow: Workflow }) {
  const [name, setName] = useState(workflow.name);
  const [description, setDescription] = useState(workflow.description);
  const [cap, setCap] = useState<number | string>(workflow.run_cap_usd ?? '');
  const save = useAction(
    () =>
      api().updateWorkflow(workflow.id, {
        name,
        description,
        run_cap_usd: cap === '' ? null : Number(cap),
      }),
    { changes: [workflowsKey], done: 'Settings saved', quiet: true },
  );
  return (
    <Form
      action={save}
      submit="Save changes"
      ready={name.trim() !== ''}
      onSubmit={() => save.mutate(undefined)}
    >
      <NameFields
        name={name}
        onName={setName}
        description={description}
        onDescription={setDescription}
      />
      <NumberInput
        label="Cost cap per run (USD)"
        description="A run that would cost more fails. Leave empty for no cap."
        min={0}
        decimalScale={6}
        value={cap}
        onChange={setCap}
      />
    </Form>
  );
}

function DeleteButton({ workflow }: { workflow: Workflow }) {
  const navigate = useNavigate();
  const remove = useAction(() => api().deleteWorkflow(workflow.id), {
    changes: [runsKey, schedulesKey, workflowsQuery.queryKey],
    done: 'Workflow deleted',
    onDone: () => void navigate({ to: '/workflows' }),
  });
  return (
    <Box>
      <Button
        color="red"
        variant="light"
        loading={remove.isPending}
        onClick={() =>
          confirm({
            title: 'Delete this workflow?',
            consequence: (
              <>
                This deletes <UserText>{workflow.name}</UserText> with its{' '}
                {countText(workflow.stats.total)} runs, its versions, schedules and webhook. You
                cannot undo this.
              </>
            ),
            confirmLabel: 'Delete workflow',
            onConfirm: () => remove.mutate(undefined),
          })
        }
      >
        Delete workflow
      </Button>
    </Box>
  );
}
