import { runChoices } from '#console/src/pages/workflows/node-tests/run-choices.ts';
import { Button, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { Run } from '#client/index.ts';
import { compareForm as text } from '#console/src/messages/en/runs/actions.ts';
import { testRunsQuery } from '#console/src/queries/node-tests.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** Chooses another run, and opens the page that compares the two. */
export function CompareForm({ run }: { run: Run }) {
  const navigate = useNavigate();
  const { data: runs = [], isSuccess } = useQuery(testRunsQuery(run.workflow_id));
  const source = run.forked_from;
  const choices = [
    ...(source === null ? [] : [{ value: source, label: text.source }]),
    ...runChoices(
      runs.filter(({ id }) => id !== run.id && id !== source),
      '',
    ),
  ];
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const otherId = typed.trim() || (chosen ?? choices[0]?.value);
  const compare = (event: SubmitEvent): void => {
    event.preventDefault();
    if (otherId === undefined) return;
    // Ids of runs are in the order of their creation: the older run is on the left.
    const [older = run.id, newer = otherId] = [run.id, otherId].toSorted();
    void navigate({
      to: '/runs/$runId/compare/$otherId',
      params: { runId: older, otherId: newer },
      search: { step: undefined },
    });
  };
  return (
    <form onSubmit={compare}>
      {choices.length > 0 && (
        <Select
          label={text.recent}
          data={choices}
          value={chosen ?? choices[0]?.value ?? null}
          allowDeselect={false}
          onChange={setChosen}
        />
      )}
      {isSuccess && choices.length === 0 && <Dimmed>{text.noOthers}</Dimmed>}
      <TextInput
        mt="sm"
        label={text.id}
        placeholder="run_…"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <Button type="submit" mt="md" disabled={otherId === undefined}>
        {text.submit}
      </Button>
    </form>
  );
}
