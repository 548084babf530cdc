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
import type { JsonObject, Schedule, Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { scheduleDialog as text } from '#console/src/messages/en/workflows/schedules.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { schedulesKey } from '#console/src/queries/schedules.ts';
import { anObject, JsonField } from '#console/src/parts/forms/json-field.tsx';
import { SchemaForm } from '#console/src/parts/forms/schema-form.tsx';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { workflowQuery } from '#console/src/queries/workflows.ts';
import { NextTimes } from './next-times.tsx';
import { isRecord } from '#console/src/parts/data/record.ts';

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
      title={'schedule' in target ? text.edit : text.new}
      size="lg"
    >
      <Edited<Schedule> record={'schedule' in target ? target.schedule : undefined}>
        {(editing) => <ScheduleForm target={target} editing={editing} onClose={onClose} />}
      </Edited>
    </Modal>
  );
}

const zones = (): string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];
const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

interface FormProps {
  target: ScheduleTarget;
  editing: Editing<Schedule> | undefined;
  onClose: () => void;
}

function useScheduleForm({ target, editing, onClose }: FormProps) {
  const given = editing?.record;
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

function ScheduleForm(props: FormProps) {
  const { target, onClose } = props;
  const state = useScheduleForm(props);
  const { save, given, cron, broken, workflowId, name, setName, setCron, timezone, setTimezone } =
    state;
  return (
    <Form
      action={save}
      submit={given === undefined ? text.create : words.saveChanges}
      ready={cron.trim() !== '' && !broken && (given !== undefined || workflowId !== '')}
      onSubmit={() => save.mutate(undefined)}
      onCancel={onClose}
    >
      <WorkflowChoice {...state} target={target} />
      <TextInput
        label={words.name}
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={text.cron}
        description={text.cronAbout}
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
      label={words.input}
      description={text.inputAbout}
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
      label={text.timezone}
      description={text.timezoneAbout}
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
        label={words.workflow}
        required
        data={[
          { value: '', label: text.selectWorkflow },
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
        {text.overlap}
      </Text>
      <SegmentedControl
        aria-labelledby="overlap-label"
        data={[
          { value: 'skip', label: text.overlapSkip },
          { value: 'allow', label: text.overlapAllow },
        ]}
        value={overlap}
        onChange={(value) => setOverlap(value === 'allow' ? 'allow' : 'skip')}
      />
    </div>
  );
}
