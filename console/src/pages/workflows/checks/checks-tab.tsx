import { Button, Group, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { BodyOf, Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { checksTab as text } from '#console/src/messages/en/workflows/checks.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { Form } from '#console/src/parts/forms/form.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { workflowsKey } from '#console/src/queries/workflows.ts';
import { type Check, checkFrom, checkProblem, newCheck } from './check.ts';
import { CheckFields } from './check-fields.tsx';

type Checks = BodyOf<'PUT /api/workflows/{id}/checks'>;

const MOST_CHECKS = 100;

/** The checks that score each successful run. */
export function ChecksTab({ workflow }: { workflow: Workflow }) {
  const mayEdit = useMay('create_edit_workflows');
  return (
    <Section title={text.title}>
      <Dimmed>{text.about}</Dimmed>
      {mayEdit ? (
        <ChecksForm key={workflow.id} record={workflow} />
      ) : workflow.checks.length === 0 ? (
        <Empty {...text.empty} />
      ) : (
        <JsonView value={workflow.checks} what={text.theChecks} />
      )}
    </Section>
  );
}

const ChecksForm = editForm<Workflow, object>(function ChecksFields({ editing }) {
  const { record: workflow, base } = editing;
  const [checks, set] = useState<readonly Check[]>(() => workflow.checks.map(checkFrom));
  const fields = { checks: checks as Checks };
  const save = useEdit<Workflow, Workflow>(
    editing,
    fields,
    (known) => api().setChecks(workflow.id, fields.checks, known),
    {
      changes: [workflowsKey],
      done: text.saved,
      onDone: (saved) => editing.reload(saved, {}),
    },
    editing.latest,
  );
  const touched = JSON.stringify(checks) !== JSON.stringify(base.checks.map(checkFrom));
  return (
    <Form
      action={save}
      submit={text.save}
      ready={touched && checks.every((check) => checkProblem(check) === undefined)}
    >
      {checks.length === 0 && <Empty {...text.empty} />}
      <Stack gap="sm">
        {checks.map((check, at) => (
          <CheckFields
            // Checks have no ID, so removing one also removes the focus from its fields.
            key={at}
            number={at + 1}
            check={check}
            onChange={(next) => set(checks.with(at, next))}
            onRemove={() => set(checks.toSpliced(at, 1))}
          />
        ))}
      </Stack>
      <Group>
        <Button
          variant="default"
          leftSection={<IconPlus size={16} aria-hidden />}
          disabled={checks.length >= MOST_CHECKS}
          onClick={() => set([...checks, newCheck(checks.length + 1)])}
        >
          {text.add}
        </Button>
      </Group>
    </Form>
  );
});
