import { Box, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import type { Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { settingsTab as text } from '#console/src/messages/en/workflows/workflow.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { Section } from '#console/src/parts/page.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { schedulesKey } from '#console/src/queries/schedules.ts';
import { workflowQuery, workflowsKey, workflowsQuery } from '#console/src/queries/workflows.ts';
import { LimitsSection } from '#console/src/pages/limits/limits-form.tsx';
import { SaveTemplate } from './save-template.tsx';
import { NameFields } from './name-fields.tsx';

/** The name of a workflow, the cost cap and the limits of its runs, and its deletion. */
export function SettingsTab({ workflow }: { workflow: Workflow }) {
  const mayEdit = useMay('create_edit_workflows');
  const mayDelete = useMay('delete_workflows');
  return (
    <Stack gap="xl" maw={560}>
      <Section title={text.general}>
        {mayEdit ? (
          <AboutForm key={workflow.id} record={workflow} />
        ) : (
          <AboutText workflow={workflow} />
        )}
        <Dimmed>
          {text.id(workflow.id)} <Copy text={workflow.id} what={text.theId} />
        </Dimmed>
      </Section>
      <LimitsSection workflowId={workflow.id} />
      {mayEdit && (
        <Section title={text.template}>
          <Text size="sm">{text.templateAbout}</Text>
          <Box>
            <SaveTemplate workflow={workflow} />
          </Box>
        </Section>
      )}
      {mayDelete && (
        <Section title={words.delete}>
          <Text size="sm">{text.deleteAbout}</Text>
          <DeleteButton workflow={workflow} />
        </Section>
      )}
    </Stack>
  );
}

function AboutText({ workflow: { run_cap_usd: cap } }: { workflow: Workflow }) {
  return (
    <Text size="sm">
      {cap === null ? text.noCap : text.capIs(dollarsText(cap))} {text.missingPermission}
    </Text>
  );
}

const AboutForm = editForm<Workflow, object>(function AboutFields({ editing }) {
  const workflow = editing.record;
  const form = useForm({
    initialValues: {
      name: workflow.name,
      description: workflow.description,
      cap: workflow.run_cap_usd ?? '',
      oneStep: workflow.overrun === 'one_step',
      requires_experiment: workflow.requires_experiment,
    },
  });
  const { cap, oneStep, ...values } = form.values;
  const fields = {
    ...values,
    run_cap_usd: cap === '' ? null : Number(cap),
    overrun: oneStep ? ('one_step' as const) : ('none' as const),
  };
  const save = useEdit(
    editing,
    fields,
    (known) => api().updateWorkflow(workflow.id, fields, known),
    {
      changes: [workflowsKey],
      done: text.saved,
      onDone: (saved) => editing.reload(saved, {}),
    },
    editing.latest,
  );
  return (
    <Form action={save} submit={words.saveChanges} ready={values.name.trim() !== ''}>
      <NameFields form={form} />
      <NumberInput
        label={text.cap}
        description={text.capAbout}
        min={0}
        decimalScale={6}
        {...form.getInputProps('cap')}
      />
      {cap !== '' && (
        <Switch
          label={text.overrun}
          description={text.overrunAbout}
          {...form.getInputProps('oneStep', { type: 'checkbox' })}
        />
      )}
      <Switch
        label={text.requiresExperiment}
        description={text.requiresExperimentAbout}
        {...form.getInputProps('requires_experiment', { type: 'checkbox' })}
      />
    </Form>
  );
});

function DeleteButton({ workflow }: { workflow: Workflow }) {
  const navigate = useNavigate();
  const remove = useAction(
    ({ id, etag }: Workflow) => api().deleteWorkflow(id, { ifMatch: etag }),
    {
      changes: [runsKey, schedulesKey, workflowsQuery.queryKey],
      done: text.deleted,
      removes: [workflowQuery(workflow.id).queryKey],
      onDone: () => navigate({ to: '/workflows' }),
    },
  );
  return (
    <Box>
      <ActionButton
        action={remove}
        input={workflow}
        ask={{
          ...text.confirmDelete,
          values: { name: workflow.name, runs: text.runs(workflow.stats.total) },
          confirm: text.delete,
        }}
      >
        {text.delete}
      </ActionButton>
    </Box>
  );
}
