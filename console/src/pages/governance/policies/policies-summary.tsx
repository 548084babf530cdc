import { Code, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Policies } from '../../../../../client/index.ts';
import { UserText } from '../../../parts/text/user-text.tsx';
import { Section } from '../../../parts/page.tsx';
import { workflowsQuery } from '../../../queries/workflows.ts';
import { detectorTexts } from './detector-texts.ts';

type ToolPolicy = Policies['tools'][number];

/** The policies as text, for members who cannot change them. */
export function PoliciesSummary({ policies }: { policies: Policies }) {
  const { model_allowlist: models, tools, redaction } = policies;
  return (
    <Stack gap="lg">
      <Section title="Models">
        {models === null ? (
          <Text size="sm">Agents can use all models.</Text>
        ) : (
          <>
            <Text size="sm">
              {models.length === 0 ? 'No model is allowed.' : 'Agents can only use these models:'}
            </Text>
            <List size="sm">
              {models.map((model) => (
                <List.Item key={model}>
                  <UserText>{model}</UserText>
                </List.Item>
              ))}
            </List>
          </>
        )}
      </Section>
      <Section title="Tools">
        {tools.length === 0 ? (
          <Text size="sm">Every workflow can use every tool.</Text>
        ) : (
          <List size="sm">
            {tools.map((tool) => (
              <List.Item key={tool.tool}>
                <ToolSummary tool={tool} />
              </List.Item>
            ))}
          </List>
        )}
      </Section>
      <Section title="Redaction">
        {redaction.detectors.length + redaction.patterns.length === 0 ? (
          <Text size="sm">No data is redacted.</Text>
        ) : (
          <List size="sm">
            {redaction.detectors.map((name) => (
              <List.Item key={name}>{detectorTexts[name].label}</List.Item>
            ))}
            {redaction.patterns.map(({ name, regex }) => (
              <List.Item key={name}>
                <UserText>{name}</UserText>: <Code>{regex}</Code>
              </List.Item>
            ))}
          </List>
        )}
      </Section>
    </Stack>
  );
}

function ToolSummary({ tool }: { tool: ToolPolicy }) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const allowed = tool.allowed_workflow_ids?.map(
    (id) => workflows.find((each) => each.id === id)?.name ?? id,
  );
  return (
    <>
      <UserText>{tool.tool}</UserText>
      {allowed !== undefined && (
        <>
          {' '}
          only in <UserText>{allowed.length === 0 ? 'no workflow' : allowed.join(', ')}</UserText>
        </>
      )}
      {(tool.blocked_arguments ?? []).map((rule, index) => (
        <Text key={index} size="sm">
          Blocked: <Code>{rule.argument}</Code>{' '}
          {rule.pattern === undefined ? (
            <>
              is one of <Code>{JSON.stringify(rule.values ?? [])}</Code>
            </>
          ) : (
            <>
              matches <Code>{rule.pattern}</Code>
            </>
          )}
        </Text>
      ))}
    </>
  );
}
