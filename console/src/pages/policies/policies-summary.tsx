import { Code, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Policies } from '#client/index.ts';
import {
  detectorTexts,
  policiesSummary as text,
} from '#console/src/messages/en/governance/policies.ts';
import { Message } from '#console/src/messages/message.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { workflowsQuery } from '#console/src/queries/workflows.ts';

type ToolPolicy = Policies['tools'][number];

/** The policies as text, for members who cannot change them. */
export function PoliciesSummary({ policies }: { policies: Policies }) {
  const { model_allowlist: models, tools, redaction, limits } = policies;
  return (
    <Stack gap="lg">
      <Section title={text.models}>
        {models === null ? (
          <Text size="sm">{text.allModels}</Text>
        ) : (
          <>
            <Text size="sm">{models.length === 0 ? text.noModel : text.listedModels}</Text>
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
      <Section title={text.tools}>
        {tools.length === 0 ? (
          <Text size="sm">{text.allTools}</Text>
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
      <Section title={text.limits}>
        {limits.length === 0 ? (
          <Text size="sm">{text.noLimit}</Text>
        ) : (
          <List size="sm">
            {limits.map((limit, at) => (
              <List.Item key={at}>
                <LimitSummary limit={limit} />
              </List.Item>
            ))}
          </List>
        )}
      </Section>
      <Section title={text.redaction}>
        {redaction.detectors.length + redaction.patterns.length === 0 ? (
          <Text size="sm">{text.noRedaction}</Text>
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

function LimitSummary({ limit }: { limit: Policies['limits'][number] }) {
  const { tools, models, concurrency, per_minute: perMinute, key } = limit;
  const names = <UserText>{(models ?? tools ?? []).join(', ')}</UserText>;
  const numbers = [
    ...(concurrency === undefined ? [] : [text.atOnce(concurrency)]),
    ...(perMinute === undefined ? [] : [text.perMinute(perMinute)]),
  ].join(', ');
  if (key === undefined) return <Message text={text.limit} values={{ names, numbers }} />;
  return <Message text={text.limitByKey} values={{ names, numbers, key: <Code>{key}</Code> }} />;
}

function ToolSummary({ tool }: { tool: ToolPolicy }) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const allowed = tool.allowed_workflow_ids?.map(
    (id) => workflows.find((each) => each.id === id)?.name ?? id,
  );
  return (
    <>
      <AllowedIn tool={<UserText>{tool.tool}</UserText>} workflows={allowed} />
      {(tool.blocked_arguments ?? []).map((rule, index) => (
        <Text key={index} size="sm">
          <Blocked rule={rule} />
        </Text>
      ))}
    </>
  );
}

function AllowedIn({
  tool,
  workflows,
}: {
  tool: ReactNode;
  workflows: readonly string[] | undefined;
}) {
  if (workflows === undefined) return tool;
  if (workflows.length === 0) return <Message text={text.onlyInNone} values={{ tool }} />;
  return <Message text={text.onlyIn} values={{ tool, workflows: workflows.join(', ') }} />;
}

function Blocked({ rule }: { rule: NonNullable<ToolPolicy['blocked_arguments']>[number] }) {
  const argument = <Code>{rule.argument}</Code>;
  return rule.pattern === undefined ? (
    <Message
      text={text.blockedValues}
      values={{ argument, values: <Code>{JSON.stringify(rule.values ?? [])}</Code> }}
    />
  ) : (
    <Message
      text={text.blockedPattern}
      values={{ argument, pattern: <Code>{rule.pattern}</Code> }}
    />
  );
}
