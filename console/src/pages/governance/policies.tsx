import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { useMay } from '../../queries/identity.ts';
import { policiesQuery } from '../../queries/policies.ts';
import { ExpressionTester } from './expression-tester.tsx';
import { PoliciesForm } from './policies-form.tsx';
import { PoliciesSummary } from './policies-summary.tsx';
import { RedactionTester } from './redaction-tester.tsx';

/** What agents and tools may do, what is taken out before anything leaves, and a bench to try both. */
export function PoliciesPage() {
  const policies = useQuery(policiesQuery);
  const mayManage = useMay('manage_workspace');
  return (
    <Page
      title="Policies"
      about="What agents and tools may do, and what is taken out before anything leaves. A change holds from the next step on, also in runs under way."
    >
      <Loaded query={policies}>
        {(loaded) =>
          mayManage ? (
            <PoliciesForm loaded={loaded} />
          ) : (
            <>
              <Alert>You may read the policies. Changing them takes manage_workspace.</Alert>
              <PoliciesSummary policies={loaded} />
              <RedactionTester redaction={loaded.redaction} />
            </>
          )
        }
      </Loaded>
      <Section title="Try an expression">
        <ExpressionTester />
      </Section>
    </Page>
  );
}
