import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import type { BodyOf, Workflow } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Form } from '../../../parts/forms/form.tsx';
import { JsonView } from '../../../parts/code/json-view.tsx';
import { Section } from '../../../parts/page.tsx';
import { useMay } from '../../../queries/identity.ts';
import { workflowsKey } from '../../../queries/workflows.ts';
import { type Check, checkFrom, checkProblem, newCheck } from './check.ts';
import { CheckFields } from './check-fields.tsx';

type Checks = BodyOf<'PUT /api/workflows/{id}/checks'>;

const MOST_CHECKS = 100;

/** The checks that score each successful run. */
export function ChecksTab({ workflow }: { workflow: Workflow }) {
  const mayEdit = useMay('create_edit_workflows');
  return (
    <Section title="Checks">
      <Text size="sm" c="dimmed">
        Checks run after every successful run. Results appear on the run and do not change its
        status.
      </Text>
      {mayEdit ? (
        <ChecksForm workflow={workflow} />
      ) : workflow.checks.length === 0 ? (
        <Empty title="No checks yet" />
      ) : (
        <JsonView value={workflow.checks} what="the checks" />
      )}
    </Section>
  );
}

function useChecksForm(workflow: Workflow) {
  const [saved, setSaved] = useState(workflow.checks);
  const [checks, setChecks] = useState<readonly Check[]>(() => workflow.checks.map(checkFrom));
  const [touched, setTouched] = useState(false);
  const save = useAction(() => api().setChecks(workflow.id, checks as Checks), {
    changes: [workflowsKey],
    done: 'Checks saved',
    quiet: true,
    onDone: (answer) => {
      setSaved(answer.checks);
      setTouched(false);
    },
  });
  const set = (next: readonly Check[]): void => {
    setChecks(next);
    setTouched(true);
  };
  const elsewhere = JSON.stringify(saved) !== JSON.stringify(workflow.checks);
  return { save, touched, checks, elsewhere, setSaved, setChecks, setTouched, set };
}

type ChecksFormState = ReturnType<typeof useChecksForm>;

function ChecksForm({ workflow }: { workflow: Workflow }) {
  const state = useChecksForm(workflow);
  const { save, touched, checks, set } = state;
  return (
    <Form
      action={save}
      submit="Save checks"
      ready={touched && checks.every((check) => checkProblem(check) === undefined)}
      onSubmit={() => save.mutate(undefined)}
    >
      <ChangedElsewhere {...state} workflow={workflow} />
      {checks.length === 0 && <Empty title="No checks yet" />}
      <Stack gap="sm">
        {checks.map((check, at) => (
          <CheckFields
            // Checks have no ID; removing one also drops the focus of its fields.
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
          Add check
        </Button>
      </Group>
    </Form>
  );
}

function ChangedElsewhere({
  elsewhere,
  save,
  setSaved,
  setChecks,
  setTouched,
  workflow,
}: ChecksFormState & { workflow: Workflow }) {
  return (
    elsewhere &&
    !save.isPending && (
      <Alert color="yellow" role="status" title="Someone else changed the checks">
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => {
            setSaved(workflow.checks);
            setChecks(workflow.checks.map(checkFrom));
            setTouched(false);
          }}
        >
          Load their version
        </Button>
      </Alert>
    )
  );
}
