import { Text } from '@mantine/core';
import { useState } from 'react';
import type { Run } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { rehearse as text } from '#console/src/messages/en/runs/actions.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { runsKey } from '#console/src/queries/runs.ts';
import { AgainFields, type Given, givenOptions } from './fork.tsx';
import { nothingAllowed, RehearsalFields } from './rehearsal-fields.tsx';
import { useOpenRun } from '#console/src/parts/open-run.ts';

/** Rehearses the whole run. */
export function RehearseForm({ run, onClose }: { run: Run; onClose: () => void }) {
  const openRun = useOpenRun();
  const [given, setGiven] = useState<Given>({ graph: '', rehearsal: nothingAllowed });
  const [broken, setBroken] = useState(false);
  const rehearse = useAction(() => api().rerun(run.id, givenOptions(given)), {
    changes: [runsKey],
    quiet: true,
    onDone: ({ id }) => {
      onClose();
      openRun(id);
    },
  });
  return (
    <Form action={rehearse} submit={text.submit} ready={!broken} onCancel={onClose}>
      <Text size="sm">{text.about}</Text>
      <AgainFields
        run={run}
        given={given}
        inputText={text.aboutInput}
        onChange={setGiven}
        onBroken={setBroken}
      />
      <RehearsalFields
        value={given.rehearsal ?? nothingAllowed}
        onChange={(rehearsal) => setGiven({ ...given, rehearsal })}
      />
    </Form>
  );
}
