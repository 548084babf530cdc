import { NumberInput, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import type { Run } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { override as text } from '#console/src/messages/en/runs/actions.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { ResumeEffect } from './questions.tsx';
import { resumeFacts } from '#console/src/pages/runs/run-facts.ts';

/** The limit of the API. */
const MAX_REASON_LENGTH = 1_000;

/** Lets a run continue that was stopped by a budget. */
export function OverrideForm({ run, onDone }: { run: Run; onDone: () => void }) {
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
    <Form action={override} submit={text.confirm} ready={!tooLow} onCancel={onDone}>
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
    </Form>
  );
}
