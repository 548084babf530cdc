import { Button, Modal, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Budget } from '../../../../client/index.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { budgetsQuery } from '../../queries/budgets.ts';
import { useMay } from '../../queries/identity.ts';
import { BudgetCard } from './budget-card.tsx';
import { BudgetForm } from './budget-form.tsx';

const LEDGER_EVERY_MS = 10_000;

export function BudgetsPage() {
  const budgets = useQuery({ ...budgetsQuery, refetchInterval: LEDGER_EVERY_MS });
  const mayManage = useMay('manage_workspace');
  const [form, setForm] = useState<{ budget: Budget | undefined }>();
  const create = mayManage && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setForm({ budget: undefined })}>
      New budget
    </Button>
  );
  return (
    <Page
      title="Budgets"
      about="Spending limits for runs. A run that would exceed a limit is refused before it costs anything."
      actions={create}
    >
      <Loaded query={budgets}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No budgets yet">
              <Text size="sm" c="dimmed">
                {mayManage
                  ? 'Create a budget to limit what runs can cost per day, week or month.'
                  : 'You need the manage_workspace permission to create one.'}
              </Text>
              {create}
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
        title={form?.budget === undefined ? 'New budget' : 'Edit budget'}
      >
        {form !== undefined && (
          <BudgetForm budget={form.budget} onClose={() => setForm(undefined)} />
        )}
      </Modal>
    </Page>
  );
}
