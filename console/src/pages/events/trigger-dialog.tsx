import { Checkbox, Modal, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { EventTrigger, JsonObject } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { triggerDialog as text } from '#console/src/messages/en/workflows/events.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { anObject, JsonField } from '#console/src/parts/forms/json-field.tsx';
import { triggersKey } from '#console/src/queries/events.ts';
import { useMay } from '#console/src/queries/identity.ts';

interface TriggerProps {
  workflowId: string;
  onClose: () => void;
}

/** Creates or edits an event trigger. */
export const TriggerDialog = ({
  opened,
  trigger,
  ...props
}: TriggerProps & { opened: boolean; trigger?: EventTrigger }) => (
  <Modal
    opened={opened}
    onClose={props.onClose}
    title={trigger === undefined ? text.new : text.edit}
    size="lg"
  >
    <TriggerForm record={trigger} {...props} />
  </Modal>
);

const TriggerForm = editForm<EventTrigger, TriggerProps, undefined>(function TriggerFields({
  editing,
  workflowId,
  onClose,
}) {
  const given = editing?.record;
  const form = useForm({
    initialValues: { event: given?.event ?? '', match: given?.match ?? '' },
  });
  const [input, setInput] = useState<JsonObject | null>(given?.input ?? null);
  const [broken, setBroken] = useState(false);
  // A member without the permission to start runs can prepare a trigger that another member enables.
  const enabled = useMay('run_workflows');
  const { event, match } = form.values;
  const fields = { event: event.trim(), match: match.trim() === '' ? null : match, input };
  const save = useEdit<EventTrigger, EventTrigger>(
    editing,
    fields,
    (known) =>
      given === undefined
        ? api().createEventTrigger(workflowId, { enabled, ...fields })
        : api().updateEventTrigger(given.id, fields, known),
    {
      changes: [triggersKey],
      done: given === undefined ? text.created : text.saved,
      onDone: onClose,
    },
  );
  return (
    <Form
      action={save}
      submit={given === undefined ? text.create : words.saveChanges}
      ready={event.trim() !== '' && !(broken && input !== null)}
      onCancel={onClose}
    >
      <TextInput
        label={text.event}
        description={text.eventAbout}
        required
        maxLength={100}
        {...form.getInputProps('event')}
      />
      <TextInput
        label={text.match}
        description={text.matchAbout}
        maxLength={2_000}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...form.getInputProps('match')}
      />
      <Checkbox
        label={text.fromData}
        checked={input === null}
        onChange={(change) => setInput(change.currentTarget.checked ? null : {})}
      />
      {input !== null && (
        <JsonField
          label={text.input}
          description={text.inputAbout}
          value={input}
          judge={anObject}
          onBroken={setBroken}
          onChange={(next) => setInput(isRecord(next) ? next : {})}
        />
      )}
    </Form>
  );
});
