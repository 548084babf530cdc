import { SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Template } from '../../../../client/index.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { useMay } from '../../queries/identity.ts';
import { templatesQuery } from '../../queries/templates.ts';
import { TemplateCard } from './template-card.tsx';

export function GalleryPage() {
  const templates = useQuery(templatesQuery);
  const mayMake = useMay('create_edit_workflows');
  return (
    <Page
      title="Templates"
      about={
        mayMake
          ? 'Start a workflow from a template. Built-in templates run without setup and make no external calls.'
          : 'You need the create_edit_workflows permission to create a workflow from a template.'
      }
    >
      <Loaded query={templates}>
        {(all) => (
          <>
            <Section title="Built-in templates">
              <TemplateCards templates={all.filter((template) => template.built_in)} />
            </Section>
            <Section title="Your templates">
              <Own templates={all.filter((template) => !template.built_in)} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

export function TemplateCards({ templates }: { templates: readonly Template[] }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
      {templates.map((template) => (
        <TemplateCard key={template.id} template={template} />
      ))}
    </SimpleGrid>
  );
}

function Own({ templates }: { templates: readonly Template[] }) {
  if (templates.length > 0) return <TemplateCards templates={templates} />;
  return (
    <Empty title="No custom templates yet">
      <Text size="sm" c="dimmed">
        To create one, open the settings of a workflow and select “Save as template”.
      </Text>
    </Empty>
  );
}
