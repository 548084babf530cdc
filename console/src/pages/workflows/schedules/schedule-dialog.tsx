import {
  Autocomplete,
  Modal,
  NativeSelect,
  SegmentedControl,
  Text,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JsonObject, Schedule, Workflow } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { Form } from '../../../parts/forms/form.tsx';
import { useMay } from '../../../queries/identity.ts';
import { schedulesKey } from '../../../queries/schedules.ts';
import { anObject, JsonField } from '../../../parts/forms/json-field.tsx';
import { SchemaForm } from '../../../parts/forms/schema-form.tsx';
import { describeError } from '../../../parts/text/describe-error.ts';
import { workflowQuery } from '../../../queries/workflows.ts';
import { NextTimes } from './next-times.tsx';
import { isRecord } from '../../../parts/data/record.ts';

/** The schedule to edit; or, for a new one, its workflow or the workflows to choose from. */
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
      title={'schedule' in target ? 'Edit schedule' : 'New schedule'}
      size="lg"
    >
      <ScheduleForm target={target} onClose={onClose} />
    </Modal>
  );
}

const zones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];
const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

function useScheduleForm({ target, onClose }: { target: ScheduleTarget; onClose: () => void }) {
  const given = 'schedule' in target ? target.schedule : undefined;
  const [chosen, setChosen] = useState('');
  const [name, setName] = useState(given?.name ?? '');
  const [cron, setCron] = useState(given?.cron ?? '0 9 * * 1-5');
  const [timezone, setTimezone] = useState(given?.timezone ?? ownZone());
  const [overlap, setOverlap] = useState<Schedule['overlap']>(given?.overlap ?? 'skip');
  const [input, setInput] = useState<JsonObject>(given?.input ?? {});
  const [broken, setBroken] = useState(false);
  // A member without the permission to start runs can prepare a schedule for another to enable.
  const enabled = useMay('run_workflows');
  const workflowId = 'workflowId' in target ? target.workflowId : chosen;
  const fields = { name: name.trim() === '' ? null : name, cron, timezone, overlap, input };
  const save = useAction(
    () =>
      given === undefined
        ? api().createSchedule({ workflow_id: workflowId, enabled, ...fields })
        : api().updateSchedule(given.id, fields),
    {
      changes: [schedulesKey],
      done: given === undefined ? 'Schedule created' : 'Schedule saved',
      onDone: onClose,
      quiet: true,
    },
  );
  return {
    save,
    given,
    cron,
    broken,
    workflowId,
    chosen,
    setChosen,
    name,
    setName,
    setCron,
    timezone,
    setTimezone,
    overlap,
    setOverlap,
    input,
    setBroken,
    setInput,
  };
}

type ScheduleFormState = ReturnType<typeof useScheduleForm>;

function ScheduleForm({ target, onClose }: { target: ScheduleTarget; onClose: () => void }) {
  const state = useScheduleForm({ target, onClose });
  const { save, given, cron, broken, workflowId, name, setName, setCron, timezone, setTimezone } =
    state;
  return (
    <Form
      action={save}
      submit={given === undefined ? 'Create schedule' : 'Save changes'}
      ready={cron.trim() !== '' && !broken && (given !== undefined || workflowId !== '')}
      onSubmit={() => save.mutate(undefined)}
      onCancel={onClose}
    >
      <WorkflowChoice {...state} target={target} />
      <TextInput
        label="Name"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Cron expression"
        description="Minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly, @monthly, @yearly"
        required
        maxLength={200}
        ff="monospace"
        value={cron}
        onChange={(event) => setCron(event.currentTarget.value)}
      />
      <TimeZone timezone={timezone} setTimezone={setTimezone} />
      <NextTimes cron={cron} timezone={timezone} />
      <OverlapChoice {...state} />
      <InputField {...state} />
    </Form>
  );
}

/** A form, if the workflow has a schema for its input. */
function InputField({ given, workflowId, save, input, setInput, setBroken }: ScheduleFormState) {
  const id = given?.workflow_id ?? workflowId;
  const schema = useQuery({ ...workflowQuery(id), enabled: id !== '' }).data?.input_schema ?? null;
  if (schema !== null) {
    const refusal = save.error === null ? undefined : describeError(save.error);
    return (
      <SchemaForm
        schema={schema}
        value={input}
        refusal={refusal}
        onBroken={setBroken}
        onChange={setInput}
      />
    );
  }
  return (
    <JsonField
      label="Input"
      description="A JSON object passed to each run"
      value={input}
      judge={anObject}
      onBroken={setBroken}
      onChange={(value) => setInput(isRecord(value) ? value : {})}
    />
  );
}

function TimeZone({
  timezone,
  setTimezone,
}: {
  timezone: string;
  setTimezone: React.Dispatch<React.SetStateAction<string>>;
}) {
  return (
    <Autocomplete
      label="Time zone"
      description="The schedule runs in this time zone"
      required
      data={zones()}
      limit={30}
      value={timezone}
      onChange={setTimezone}
    />
  );
}

function WorkflowChoice({
  chosen,
  setChosen,
  target,
}: ScheduleFormState & { target: ScheduleTarget }) {
  return (
    'workflows' in target && (
      <NativeSelect
        label="Workflow"
        required
        data={[
          { value: '', label: 'Select a workflow' },
          ...target.workflows.map((each) => ({ value: each.id, label: each.name })),
        ]}
        value={chosen}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
    )
  );
}

function OverlapChoice({ overlap, setOverlap }: ScheduleFormState) {
  return (
    <div>
      <Text size="sm" fw={500} id="overlap-label">
        If the previous run is still active
      </Text>
      <SegmentedControl
        aria-labelledby="overlap-label"
        data={[
          { value: 'skip', label: 'Skip the new run' },
          { value: 'allow', label: 'Start a new run' },
        ]}
        value={overlap}
        onChange={(value) => setOverlap(value === 'allow' ? 'allow' : 'skip')}
      />
    </div>
  );
}
