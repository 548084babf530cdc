import { Box, Group, Progress, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { BudgetStatus } from '#client/index.ts';
import { budgetBar as text } from '#console/src/messages/en/budgets.ts';
import { dollarsText } from '#console/src/parts/text/numbers.ts';

/**
 * Spent, reserved and remaining money on one bar; a line marks the projected spend at the end of the window. The bar is
 * as long as the largest amount, so that spend over the limit is visible beyond the limit mark.
 */
export function BudgetBar({ limit, status }: { limit: number; status: BudgetStatus }) {
  const whole = Math.max(limit, status.committed_usd, status.projected_usd);
  const share = (dollars: number): number => (whole === 0 ? 0 : (100 * dollars) / whole);
  const { spent_usd, reserved_usd, remaining_usd, projected_usd } = status;
  const spent = remaining_usd < 0 ? 'danger' : 'accent';
  const sums = {
    spent: dollarsText(spent_usd),
    reserved: dollarsText(reserved_usd),
    projected: dollarsText(projected_usd),
    limit: dollarsText(limit),
  };
  const summary =
    remaining_usd >= 0
      ? text.summary({ ...sums, remaining: dollarsText(remaining_usd) })
      : text.summaryOver({ ...sums, over: dollarsText(-remaining_usd) });
  return (
    <Box>
      <Box pos="relative" role="img" aria-label={summary} py={4}>
        <Progress.Root size={18} radius="sm" aria-hidden>
          <Progress.Section withAria={false} value={share(spent_usd)} color={spent} />
          <Progress.Section withAria={false} value={share(reserved_usd)} color="info" striped />
        </Progress.Root>
        {whole > limit && <Mark at={share(limit)} line="2px solid var(--mantine-color-danger-6)" />}
        {projected_usd > 0 && (
          <Mark at={share(projected_usd)} line="2px dashed var(--mantine-color-text)" />
        )}
      </Box>
      <Group gap="2px var(--mantine-spacing-md)" aria-hidden>
        <Entry swatch={`var(--mantine-color-${spent}-filled)`}>{text.spent(sums.spent)}</Entry>
        <Entry swatch="var(--mantine-color-info-filled)">{text.reserved(sums.reserved)}</Entry>
        <Entry swatch="var(--mantine-color-default-border)">{rest(remaining_usd)}</Entry>
        <Entry line="2px dashed var(--mantine-color-text)">{text.projected(sums.projected)}</Entry>
        {whole > limit && (
          <Entry line="2px solid var(--mantine-color-danger-6)">{text.limit}</Entry>
        )}
      </Group>
    </Box>
  );
}

const rest = (remaining: number): string =>
  remaining >= 0 ? text.remaining(dollarsText(remaining)) : text.overBy(dollarsText(-remaining));

function Mark({ at, line }: { at: number; line: string }) {
  return (
    <Box
      pos="absolute"
      top={0}
      bottom={0}
      w={0}
      style={{ left: `min(${at}%, calc(100% - 2px))`, borderLeft: line }}
    />
  );
}

function Entry({
  swatch,
  line,
  children,
}: {
  swatch?: string;
  line?: string;
  children: ReactNode;
}) {
  return (
    <Group gap={6} wrap="nowrap">
      <Box
        w={line === undefined ? 10 : 0}
        h={12}
        style={{ background: swatch, borderLeft: line, borderRadius: 2 }}
      />
      <Text size="sm" style={{ fontVariantNumeric: 'tabular-nums' }}>
        {children}
      </Text>
    </Group>
  );
}
