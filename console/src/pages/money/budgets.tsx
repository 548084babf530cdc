import { Button, Modal, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Budget } from '#client/index.ts';
import { budgets as text } from '#console/src/messages/en/budgets.ts';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingCards } from '#console/src/parts/loading.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { budgetsQuery } from '#console/src/queries/budgets.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';
import { BudgetCard } from './budget-card.tsx';
import { BudgetForm } from './budget-form.tsx';

const LEDGER_EVERY_MS = 10_000;

export function BudgetsPage() {
  const budgets = useQuery({ ...budgetsQuery, refetchInterval: () => pollMs(LEDGER_EVERY_MS) });
  const mayManage = useMay('manage_workspace');
  const [form, setForm] = useState<{ budget: Budget | undefined }>();
  const create = mayManage && (
    <NewButton onClick={() => setForm({ budget: undefined })}>{text.new}</NewButton>
  );
  return (
    <Page title={text.title} about={text.about} actions={create}>
      <Loaded query={budgets} loading={<LoadingCards height={180} />}>
        {(list) =>
          list.length === 0 ? (
            <Empty {...text.empty} missing={!mayManage && 'manage_workspace'}>
              {mayManage && (
                <Button onClick={() => setForm({ budget: undefined })}>{text.empty.create}</Button>
              )}
            </Empty>
          ) : (
            <Stack gap="md">
              {list.map((budget) => (
                <BudgetCard key={budget.id} budget={budget} onEdit={() => setForm({ budget })} />
              ))}
            </Stack>
          )
        }
      </Loaded>
      <Modal
        opened={form !== undefined}
        onClose={() => setForm(undefined)}
        title={form?.budget === undefined ? text.new : text.editTitle}
      >
        {form !== undefined && (
          <BudgetForm record={form.budget} onClose={() => setForm(undefined)} />
        )}
      </Modal>
    </Page>
  );
}
