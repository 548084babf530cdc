import { Button, Group, NumberInput, Stack, Text, Textarea } from '@mantine/core';
import { IconCoin } from '@tabler/icons-react';
import { useState } from 'react';
import type { Run } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { override as text } from '#console/src/messages/en/runs/actions.ts';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Failure } from '#console/src/parts/failure.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { ResumeEffect } from './resume-texts.tsx';
import { resumeFacts } from '#console/src/pages/runs/run-facts.ts';

/** The limit of the API. */
const MAX_REASON_LENGTH = 1_000;

/** Lets a run continue that was stopped by a budget. */
export function OverrideButton({ run }: { run: Run }) {
  return (
    <ModalButton
      leftSection={<IconCoin size={16} aria-hidden />}
      label={text.button}
      title={text.title}
    >
      {(close) => <OverrideForm run={run} onDone={close} />}
    </ModalButton>
  );
}

function OverrideForm({ run, onDone }: { run: Run; onDone: () => void }) {
  const [cap, setCap] = useState<number | string>('');
  const [reason, setReason] = useState('');
  const override = useAction(
    () =>
      api().overrideBudget(run.id, {
        approved: true,
        cap_usd: typeof cap === 'number' ? cap : undefined,
        reason: reason.trim() || undefined,
      }),
    { changes: [runsKey, ['budgets']], done: text.done, onDone, quiet: true },
  );
  const tooLow = typeof cap === 'number' && cap <= run.cost_usd;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!tooLow) override.mutate(undefined);
      }}
    >
      <Stack gap="sm">
        <ResumeEffect facts={{ ...resumeFacts(run), after: 'other' }} />
        <Text size="sm">{text.about(dollarsText(run.cost_usd))}</Text>
        <NumberInput
          label={text.cap}
          description={text.aboutCap}
          min={0}
          decimalScale={6}
          value={cap}
          onChange={setCap}
          error={tooLow && text.tooLow(dollarsText(run.cost_usd))}
        />
        <Textarea
          label={words.reason}
          description={text.aboutReason}
          maxLength={MAX_REASON_LENGTH}
          autosize
          minRows={2}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        {override.error !== null && <Failure error={override.error} />}
        <Group gap="sm">
          <Button type="submit" loading={override.isPending}>
            {text.confirm}
          </Button>
          <Button variant="default" onClick={onDone}>
            {words.cancel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
