import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconShieldCheck } from '@tabler/icons-react';
import type { AuditVerification } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { Failure } from '../../../parts/failure.tsx';
import { countText } from '../../../parts/text/numbers.ts';
import { Section } from '../../../parts/page.tsx';
import { Snippet } from '../../../parts/code/snippet.tsx';
import { useIdentity } from '../../../queries/identity.ts';

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
      title="Integrity"
      actions={
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<IconShieldCheck size={16} />}
          loading={check.isPending}
          onClick={() => check.mutate(undefined)}
        >
          Verify chain
        </Button>
      }
    >
      <Text size="sm" c="dimmed">
        Each entry includes the hash of the previous entry. Any changed, removed or inserted entry
        breaks the chain.
      </Text>
      {check.error !== null && <Failure error={check.error} />}
      {check.data !== undefined && <Outcome found={check.data} />}
    </Section>
  );
}

function Outcome({ found }: { found: AuditVerification }) {
  return (
    <Stack gap="sm" role="status">
      {found.valid ? (
        <Alert color="teal" title="The log is intact">
          {countText(found.sealed)} entries and {countText(found.tool_calls.made)} approved tool
          calls verified.
          <Unsealed count={found.unsealed} />
        </Alert>
      ) : (
        <Alert color="red" title="The log was tampered with">
          {found.first_problem !== undefined && (
            <>
              {found.first_problem.position === null
                ? 'An entry is not part of the chain: '
                : `At position ${countText(found.first_problem.position)}: `}
              {found.first_problem.problem}
              {found.first_problem.audit_id !== undefined &&
                ` (entry ${found.first_problem.audit_id})`}
            </>
          )}
          {found.tool_calls.problems.map(({ run_id, step_key, problem }, place) => (
            <Text key={place} size="sm">
              Tool call {step_key} of run {run_id}: {problem}
            </Text>
          ))}
          <Unsealed count={found.unsealed} />
        </Alert>
      )}
      {found.head !== null && <Head head={found.head} />}
    </Stack>
  );
}

function Unsealed({ count }: { count: number }) {
  if (count === 0) return null;
  return ` ${countText(count)} not sealed yet. This takes about a second.`;
}

function Head({ head }: { head: NonNullable<AuditVerification['head']> }) {
  const { workspace_id } = useIdentity();
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        Latest hash, at position {countText(head.position)}
      </Text>
      <Snippet text={`${workspace_id}:${head.position}:${head.hash}`} what="the latest hash" />
      <Text size="xs" c="dimmed">
        Store this line outside the database. Someone with full database access could rewrite the
        whole log. To detect that, run npm run audit:verify -- --head followed by this line.
      </Text>
    </Stack>
  );
}
