import { Button, Group, Modal, NumberInput, Stack, Text, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCoin } from '@tabler/icons-react';
import { useState } from 'react';
import type { Run } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { Failure } from '../../../parts/failure.tsx';
import { dollarsText } from '../../../parts/text/numbers.ts';
import { runsKey } from '../../../queries/runs.ts';
import { ResumeEffect } from './resume-texts.tsx';
import { resumeFacts } from '../run-facts.ts';

/** The limit of the API. */
const MAX_REASON_LENGTH = 1_000;

/** Lets a run continue that a budget stopped. */
export function OverrideButton({ run }: { run: Run }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" leftSection={<IconCoin size={16} aria-hidden />} onClick={open}>
        Override budget
      </Button>
      <Modal opened={opened} onClose={close} title="Override the budget for this run?">
        <OverrideForm run={run} onDone={close} />
      </Modal>
    </>
  );
}

function OverrideForm({ run, onDone }: { run: Run; onDone: () => void }) {
  const [cap, setCap] = useState<number | string>('');
  const [reason, setReason] = useState('');
  const override = useAction(
    () =>
      api().overrideBudget(run.id, {
        approved: true,
        ...(typeof cap === 'number' && { cap_usd: cap }),
        ...(reason.trim() !== '' && { reason: reason.trim() }),
      }),
    { changes: [runsKey, ['budgets']], done: 'Run resumed', onDone, quiet: true },
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
        <Text size="sm">
          Budgets will not stop this run again, but its cost still counts toward them. Cost so far:{' '}
          {dollarsText(run.cost_usd)}.
        </Text>
        <NumberInput
          label="New run cap (USD)"
          description="Maximum total cost of the run. Leave empty for no cap."
          min={0}
          decimalScale={6}
          value={cap}
          onChange={setCap}
          error={tooLow && `Enter more than the cost so far: ${dollarsText(run.cost_usd)}`}
        />
        <Textarea
          label="Reason"
          description="Saved in the audit log and with the decision."
          maxLength={MAX_REASON_LENGTH}
          autosize
          minRows={2}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        {override.error !== null && <Failure error={override.error} />}
        <Group gap="sm">
          <Button type="submit" loading={override.isPending}>
            Override and resume
          </Button>
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
