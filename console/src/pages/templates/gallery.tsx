import { useQuery } from '@tanstack/react-query';
import type { Template } from '#client/index.ts';
import { gallery as text } from '#console/src/messages/en/templates.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingCards } from '#console/src/parts/loading.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { templatesQuery } from '#console/src/queries/workspace.ts';
import { cardColumns } from './card-columns.ts';
import { TemplateCards } from './template-cards.tsx';

export function GalleryPage() {
  const templates = useQuery(templatesQuery);
  const mayMake = useMay('create_edit_workflows');
  return (
    <Page title={text.title} about={mayMake ? text.about : text.mayNotCreate}>
      <Loaded
        query={templates}
        loading={<LoadingCards cards={6} height={260} cols={cardColumns} />}
      >
        {(all) => (
          <>
            <Section title={text.builtIn}>
              <TemplateCards templates={all.filter((template) => template.built_in)} />
            </Section>
            <Section title={text.own}>
              <Own templates={all.filter((template) => !template.built_in)} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Own({ templates }: { templates: readonly Template[] }) {
  if (templates.length > 0) return <TemplateCards templates={templates} />;
  return <Empty title={text.noOwn} about={text.noOwnAbout} />;
}
