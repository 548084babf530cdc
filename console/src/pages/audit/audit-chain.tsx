import { Alert, Stack, Text } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import type { AuditVerification } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { auditChain as text } from '#console/src/messages/en/governance/audit.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Failure } from '#console/src/parts/failure.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Section } from '#console/src/parts/page.tsx';
import { Snippet } from '#console/src/parts/code/snippet.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useIdentity } from '#console/src/queries/identity.ts';

/** The service needs up to 30 seconds to verify a long log. */
const WITHIN_SECONDS = 60;

/** Verifies the hash chain and explains the result. */
export function AuditChain() {
  const check = useAction(() => api().verifyAudit({ timeout: WITHIN_SECONDS }), {
    changes: [],
    quiet: true,
  });
  return (
    <Section
      title={text.title}
      actions={
        <ActionButton size="compact-sm" action={check} leftSection={<IconShieldCheck size={16} />}>
          {text.verify}
        </ActionButton>
      }
    >
      <Dimmed>{text.about}</Dimmed>
      {check.error !== null && <Failure error={check.error} />}
      {check.data !== undefined && <Outcome found={check.data} />}
    </Section>
  );
}

function Outcome({ found }: { found: AuditVerification }) {
  return (
    <Stack gap="sm" role="status">
      {found.valid ? (
        <Alert color="success" title={text.intact}>
          {text.verified(countText(found.sealed), countText(found.tool_calls.made))}
          <Unsealed count={found.unsealed} />
        </Alert>
      ) : (
        <Alert color="danger" title={text.tampered}>
          {found.first_problem !== undefined && problemText(found.first_problem)}
          {found.tool_calls.problems.map(({ run_id, step_key, problem }, place) => (
            <Text key={place} size="sm">
              {text.toolCall(step_key, run_id, problem)}
            </Text>
          ))}
          <Unsealed count={found.unsealed} />
        </Alert>
      )}
      {found.head !== null && <Head head={found.head} />}
    </Stack>
  );
}

function problemText({
  position,
  problem,
  audit_id: entry,
}: NonNullable<AuditVerification['first_problem']>): string {
  if (position === null) {
    return entry === undefined ? text.outside(problem) : text.entryOutside(problem, entry);
  }
  const at = countText(position);
  return entry === undefined ? text.at(at, problem) : text.entryAt(at, problem, entry);
}

function Unsealed({ count }: { count: number }) {
  if (count === 0) return null;
  return ` ${text.unsealed(countText(count))}`;
}

function Head({ head }: { head: NonNullable<AuditVerification['head']> }) {
  const { workspace_id } = useIdentity();
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {text.latestHash(countText(head.position))}
      </Text>
      <Snippet text={`${workspace_id}:${head.position}:${head.hash}`} what={text.theLatestHash} />
      <Dimmed size="xs">{text.store}</Dimmed>
    </Stack>
  );
}
