import { Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { AuditEntry, Run, Step } from '#client/index.ts';
import { stepAudit as text } from '#console/src/messages/en/runs/inspector.ts';
import { LoadMore } from '#console/src/parts/data/load-more.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { actionText } from '#console/src/parts/text/audit-texts.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { auditQuery } from '#console/src/queries/audit.ts';

/** What people did at this step, and with its run. */
export function StepAudit({ run, step }: { run: Run; step: Step }) {
  const query = useInfiniteQuery(auditQuery({ target_type: 'run', target_id: run.id }));
  return (
    <Loaded query={query}>
      {({ entries }) => (
        <Stack gap="xs">
          {entries.length === 0 && <Dimmed>{text.empty}</Dimmed>}
          <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
            {[...entries]
              .sort((a, b) => Number(isOf(b, step)) - Number(isOf(a, step)))
              .map((entry) => (
                <Entry key={entry.id} entry={entry} own={isOf(entry, step)} />
              ))}
          </Stack>
          <LoadMore query={query} />
          <TextLink to="/audit" search={{ target_type: 'run', target_id: run.id }} size="sm">
            {text.open}
          </TextLink>
        </Stack>
      )}
    </Loaded>
  );
}

/** Entries without a step are about the run. */
function isOf({ details }: AuditEntry, { step_key: key, node_id: nodeId }: Step): boolean {
  const { step_key, node_id, from_step } = details as Record<string, unknown>;
  if (step_key !== undefined) return step_key === key;
  return node_id === nodeId || from_step === key;
}

const Entry = ({ entry, own }: { entry: AuditEntry; own: boolean }) => (
  <li>
    <Text size="sm" fw={own ? 600 : undefined}>
      {own ? text.atThisStep(actionText(entry.action)) : actionText(entry.action)}
    </Text>
    <Dimmed size="xs">
      <UserText>{entry.actor_name ?? entry.actor_id ?? text.theService}</UserText>,{' '}
      <When at={entry.created_at} />
    </Dimmed>
  </li>
);
