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
          ? 'Workflows to begin with. Those that come with the service run as they are and call nothing outside.'
          : 'Workflows to begin with. Making one of them takes the permission ‘create edit workflows’, which you do not have.'
      }
    >
      <Loaded query={templates}>
        {(all) => (
          <>
            <Section title="To begin with">
              <TemplateCards templates={all.filter((template) => template.built_in)} />
            </Section>
            <Section title="Your own">
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
    <Empty title="No template of your own">
      <Text size="sm" c="dimmed">
        A workflow becomes one in its settings, by ‘Save as a template’.
      </Text>
    </Empty>
  );
}
