import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import { firstSteps as text } from '#console/src/messages/en/overview.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingCards } from '#console/src/parts/loading.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { templatesQuery } from '#console/src/queries/workspace.ts';
import { cardColumns } from '#console/src/pages/templates/card-columns.ts';

const SHOWN = 3;

// Only a workspace without runs shows the cards, and their previews need the parts of a graph.
const TemplateCards = lazyPart(
  () => import('#console/src/pages/templates/template-cards.tsx'),
  'TemplateCards',
);

/** Shown in a workspace without runs. */
export function FirstSteps() {
  const templates = useQuery(templatesQuery);
  const mayMake = useMay('create_edit_workflows');
  const mayRun = useMay('run_workflows') && mayMake;
  return (
    <Section
      title={text.title}
      actions={
        <Text size="sm">
          <TextLink to="/templates">{text.all}</TextLink>
        </Text>
      }
    >
      <Text size="sm">{mayRun ? text.about : text.mayNotRun}</Text>
      <Loaded query={templates} loading={<Coming />}>
        {(all) => (
          <Suspense fallback={<Coming />}>
            <TemplateCards templates={all.slice(0, SHOWN)} />
          </Suspense>
        )}
      </Loaded>
    </Section>
  );
}

const Coming = () => <LoadingCards cards={SHOWN} height={260} cols={cardColumns} />;
