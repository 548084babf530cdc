import { SimpleGrid } from '@mantine/core';
import type { Template } from '#client/index.ts';
import { cardColumns } from './card-columns.ts';
import { TemplateCard } from './template-card.tsx';

export function TemplateCards({ templates }: { templates: readonly Template[] }) {
  return (
    <SimpleGrid cols={cardColumns} spacing="md">
      {templates.map((template) => (
        <TemplateCard key={template.id} template={template} />
      ))}
    </SimpleGrid>
  );
}
