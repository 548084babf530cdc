import { TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '#console/src/api.ts';
import { sendEvent as text } from '#console/src/messages/en/workflows/events.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { JsonField } from '#console/src/parts/forms/json-field.tsx';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { eventsKey } from '#console/src/queries/events.ts';

/** Opens the dialog that sends an event. */
export const SendEventButton = () => (
  <ModalButton label={text.open} title={text.title} width="lg">
    {(close) => <SendEventForm onClose={close} />}
  </ModalButton>
);

function SendEventForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [data, setData] = useState<unknown>({});
  const [broken, setBroken] = useState(false);
  const send = useAction(() => api().sendWorkspaceEvent({ name: name.trim(), data }), {
    changes: [eventsKey],
    done: text.done,
    quiet: true,
    onDone: ({ id }) => {
      onClose();
      void navigate({ to: '/events/$eventId', params: { eventId: id } });
    },
  });
  return (
    <Form
      action={send}
      submit={text.submit}
      ready={name.trim() !== '' && !broken}
      onCancel={onClose}
    >
      <TextInput
        label={text.name}
        description={text.nameAbout}
        required
        maxLength={100}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <JsonField
        label={text.data}
        description={text.dataAbout}
        value={data}
        onBroken={setBroken}
        onChange={setData}
      />
    </Form>
  );
}
