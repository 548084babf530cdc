import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { policies as text } from '#console/src/messages/en/governance/policies.ts';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingRows } from '#console/src/parts/loading.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { policiesQuery } from '#console/src/queries/policies.ts';
import { ExpressionTester } from './expressions/expression-tester.tsx';
import { PastTrial } from './backtests/history-trial.tsx';
import { PoliciesForm } from './policies-form.tsx';
import { PoliciesSummary } from './policies-summary.tsx';
import { RedactionTester } from './redaction-tester.tsx';

/** Policies for models, tools and redaction, with tests of redaction and expressions. */
export function PoliciesPage() {
  const policies = useQuery(policiesQuery);
  const mayManage = useMay('manage_workspace');
  return (
    <Page title={text.title} about={text.about}>
      <Loaded query={policies} loading={<LoadingRows rows={24} />}>
        {(loaded) =>
          mayManage ? (
            <PoliciesForm record={loaded} />
          ) : (
            <>
              <Alert>{text.missing}</Alert>
              <PoliciesSummary policies={loaded} />
              <RedactionTester redaction={loaded.redaction} />
              <PastTrial />
            </>
          )
        }
      </Loaded>
      <Section title={text.testExpression}>
        <ExpressionTester />
      </Section>
    </Page>
  );
}
