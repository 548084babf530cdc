import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page, Section } from '../../../parts/page.tsx';
import { useMay } from '../../../queries/identity.ts';
import { policiesQuery } from '../../../queries/policies.ts';
import { ExpressionTester } from '../expressions/expression-tester.tsx';
import { PoliciesForm } from './policies-form.tsx';
import { PoliciesSummary } from './policies-summary.tsx';
import { RedactionTester } from './redaction-tester.tsx';

/** Policies for models, tools and redaction, with tests of redaction and expressions. */
export function PoliciesPage() {
  const policies = useQuery(policiesQuery);
  const mayManage = useMay('manage_workspace');
  return (
    <Page
      title="Policies"
      about="Which models and tools workflows can use, and which data is redacted before it leaves the service. Changes apply from the next step, including in active runs."
    >
      <Loaded query={policies}>
        {(loaded) =>
          mayManage ? (
            <PoliciesForm loaded={loaded} />
          ) : (
            <>
              <Alert>You need the manage_workspace permission to change policies.</Alert>
              <PoliciesSummary policies={loaded} />
              <RedactionTester redaction={loaded.redaction} />
            </>
          )
        }
      </Loaded>
      <Section title="Test an expression">
        <ExpressionTester />
      </Section>
    </Page>
  );
}
