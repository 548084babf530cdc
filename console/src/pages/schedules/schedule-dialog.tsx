import {
  Autocomplete,
  Modal,
  NativeSelect,
  SegmentedControl,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JsonObject, Schedule, Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { scheduleDialog as text } from '#console/src/messages/en/workflows/schedules.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { schedulesKey } from '#console/src/queries/schedules.ts';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { workflowQuery } from '#console/src/queries/workflows.ts';
import { ownZone } from '#console/src/parts/text/times.ts';
import { RunInput, useSuggestedInput } from '#console/src/pages/workflows/run-input.tsx';
import { NextTimes } from './next-times.tsx';

/** The schedule to edit; for a new one, its workflow or the workflows to choose from. */
export type ScheduleTarget =
  | { schedule: Schedule }
  | { workflowId: string }
  | { workflows: readonly Workflow[] };

/** Creates or edits a schedule. */
export function ScheduleDialog({
  opened,
  onClose,
  target,
}: {
  opened: boolean;
  onClose: () => void;
  target: ScheduleTarget;
}) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={'schedule' in target ? text.edit : text.new}
      size="lg"
    >
      <ScheduleForm
        record={'schedule' in target ? target.schedule : undefined}
        {...{ target, onClose }}
      />
    </Modal>
  );
}

const zones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** Until the workflow is chosen and read. */
const UNKNOWN = { graph: { nodes: [], edges: [] }, input_schema: null };

const ScheduleForm = editForm<Schedule, { target: ScheduleTarget; onClose: () => void }, undefined>(
  function ScheduleFields({ editing, target, onClose }) {
    const given = editing?.record;
    const form = useForm({
      initialValues: {
        workflowId: 'workflowId' in target ? target.workflowId : (given?.workflow_id ?? ''),
        name: given?.name ?? '',
        cron: given?.cron ?? '0 9 * * 1-5',
        timezone: given?.timezone ?? ownZone(),
        overlap: given?.overlap ?? 'skip',
      },
    });
    const { workflowId, name, cron, timezone, overlap } = form.values;
    const [entered, setInput] = useState<JsonObject | undefined>(given?.input);
    const { data: workflow } = useQuery({
      ...workflowQuery(workflowId),
      enabled: workflowId !== '',
    });
    const suggested = useSuggestedInput(workflow ?? UNKNOWN);
    const input = entered ?? suggested;
    const [broken, setBroken] = useState(false);
    // A member without the permission to start runs can prepare a schedule that another member enables.
    const enabled = useMay('run_workflows');
    const fields = { name: name.trim() === '' ? null : name, cron, timezone, overlap, input };
    const save = useEdit<Schedule, Schedule>(
      editing,
      fields,
      (known) =>
        given === undefined
          ? api().createSchedule({ workflow_id: workflowId, enabled, ...fields })
          : api().updateSchedule(given.id, fields, known),
      {
        changes: [schedulesKey],
        done: given === undefined ? text.created : text.saved,
        onDone: onClose,
      },
    );
    return (
      <Form
        action={save}
        submit={given === undefined ? text.create : words.saveChanges}
        ready={cron.trim() !== '' && !broken && workflowId !== ''}
        onCancel={onClose}
      >
        {'workflows' in target && (
          <NativeSelect
            label={words.workflow}
            required
            data={[
              { value: '', label: text.selectWorkflow },
              ...target.workflows.map((each) => ({ value: each.id, label: each.name })),
            ]}
            {...form.getInputProps('workflowId')}
          />
        )}
        <TextInput label={words.name} maxLength={200} {...form.getInputProps('name')} />
        <TextInput
          label={text.cron}
          description={text.cronAbout}
          required
          maxLength={200}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          {...form.getInputProps('cron')}
        />
        <Autocomplete
          label={text.timezone}
          description={text.timezoneAbout}
          required
          data={zones()}
          limit={30}
          {...form.getInputProps('timezone')}
        />
        <NextTimes cron={cron} timezone={timezone} />
        <div>
          <Text size="sm" fw={500} id="overlap-label">
            {text.overlap}
          </Text>
          <SegmentedControl
            aria-labelledby="overlap-label"
            data={[
              { value: 'skip', label: text.overlapSkip },
              { value: 'allow', label: text.overlapAllow },
            ]}
            {...form.getInputProps('overlap')}
          />
        </div>
        <RunInput
          label={words.input}
          schema={workflow?.input_schema ?? null}
          value={input}
          suggested={suggested}
          onChange={setInput}
          onBroken={setBroken}
          refusal={save.error === null ? undefined : describeError(save.error)}
        />
      </Form>
    );
  },
);
