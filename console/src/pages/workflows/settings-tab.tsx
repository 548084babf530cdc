import { Box, Button, NumberInput, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Workflow } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { confirm } from '../../parts/confirm.tsx';
import { Copy } from '../../parts/copy.tsx';
import { UserText } from '../../parts/user-text.tsx';
import { Form } from '../../parts/form.tsx';
import { countText, dollarsText } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { useMay } from '../../queries/identity.ts';
import { runsKey } from '../../queries/runs.ts';
import { schedulesKey } from '../../queries/schedules.ts';
import { workflowsKey, workflowsQuery } from '../../queries/workflows.ts';
import { SaveTemplate } from './save-template.tsx';
import { NameFields } from './name-fields.tsx';

/** What a workflow is called, what a run may cost, and the end of it. */
export function SettingsTab({ workflow }: { workflow: Workflow }) {
  const mayEdit = useMay('create_edit_workflows');
  const mayDelete = useMay('delete_workflows');
  return (
    <Stack gap="xl" maw={560}>
      <Section title="About">
        {mayEdit ? <AboutForm workflow={workflow} /> : <AboutText workflow={workflow} />}
        <Text size="sm" c="dimmed">
          Its id is {workflow.id} <Copy text={workflow.id} what="the id" />
        </Text>
      </Section>
      {mayEdit && (
        <Section title="Template">
          <Text size="sm">
            Others can begin with a copy of the graph and the checks as they are now.
          </Text>
          <Box>
            <SaveTemplate workflow={workflow} />
          </Box>
        </Section>
      )}
      {mayDelete && (
        <Section title="Delete">
          <Text size="sm">
            Deleting takes the workflow, its versions and its runs. Nothing brings them back.
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
      {cap === null ? 'A run may cost what budgets let it.' : `A run may cost ${dollarsText(cap)}.`}{' '}
      Changing that takes the capability create_edit_workflows, which you do not hold.
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
    { changes: [workflowsKey], done: 'Saved', quiet: true },
  );
  return (
    <Form
      action={save}
      submit="Save"
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
        label="What one run may cost, dollars"
        description="A run that would cost more fails. Empty: no cap."
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
    done: 'Deleted',
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
            title: 'Delete the workflow?',
            consequence: (
              <>
                <UserText>{workflow.name}</UserText> and its {countText(workflow.stats.total)} runs
                are deleted, with its versions, schedules and webhook. Nothing brings them back.
              </>
            ),
            confirmLabel: 'Delete',
            onConfirm: () => remove.mutate(undefined),
          })
        }
      >
        Delete the workflow
      </Button>
    </Box>
  );
}
