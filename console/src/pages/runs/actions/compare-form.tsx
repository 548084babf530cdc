import { Button, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import type { Run } from '#client/index.ts';
import { compareForm as text } from '#console/src/messages/en/runs/actions.ts';
import { testRunsQuery } from '#console/src/queries/node-tests.ts';
import { RunSelect } from '#console/src/pages/workflows/node-tests/run-select.tsx';
import { words } from '#console/src/messages/en/words.ts';
import { Footer } from '#console/src/parts/forms/footer.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** Chooses another run, and opens the page that compares the two. */
export function CompareForm({ run, onClose }: { run: Run; onClose: () => void }) {
  const navigate = useNavigate();
  const { data: runs = [], isSuccess } = useQuery(testRunsQuery(run.workflow_id));
  const source = run.forked_from;
  const first = source === null ? [] : [{ value: source, label: text.source }];
  const others = runs.filter(({ id }) => id !== run.id && id !== source);
  const newest = source ?? others[0]?.id;
  const [chosen, setChosen] = useState<string>();
  const [typed, setTyped] = useState('');
  const otherId = typed.trim() || (chosen ?? newest);
  const compare = (event: SubmitEvent): void => {
    event.preventDefault();
    if (otherId === undefined) return;
    void navigate({
      to: '/runs/$runId/compare/$otherId',
      params: { runId: run.id, otherId },
      search: { step: undefined },
    });
  };
  return (
    <form onSubmit={compare}>
      <Stack gap="sm">
        {newest !== undefined && (
          <RunSelect
            label={text.recent}
            first={first}
            runs={others}
            value={chosen ?? newest}
            onChoose={setChosen}
          />
        )}
        {isSuccess && newest === undefined && <Dimmed>{text.noOthers}</Dimmed>}
        <TextInput
          label={text.id}
          placeholder="run_…"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Footer>
          <Button variant="default" onClick={onClose}>
            {words.cancel}
          </Button>
          <Button type="submit" disabled={otherId === undefined}>
            {text.submit}
          </Button>
        </Footer>
      </Stack>
    </form>
  );
}
