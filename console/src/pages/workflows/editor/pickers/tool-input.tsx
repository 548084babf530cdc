import { Autocomplete, Group, Text } from '@mantine/core';
import { toolPicker as texts } from '#console/src/messages/en/workflows/node-fields.ts';
import { Tag } from '#console/src/parts/tag.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { Effect, ToolFacts } from './tool-facts.ts';
import { useToolFacts } from './use-tool-facts.ts';

/** The tool of a node: one of the workspace's, or any other text, since the tool can be registered later. */
export function ToolInput({
  common,
  tools,
  value,
  onText,
}: {
  common: { label: string; description: string | undefined; error: string | undefined };
  tools: readonly string[];
  value: string;
  onText: (text: string) => void;
}) {
  const factsOf = useToolFacts();
  const known = tools.includes(value) ? factsOf(value) : undefined;
  return (
    <>
      <Autocomplete
        {...common}
        data={[...tools]}
        value={value}
        onChange={onText}
        limit={50}
        renderOption={({ option }) => <ToolOption tool={option.value} {...factsOf(option.value)} />}
      />
      {known !== undefined && (
        <Group gap="xs" mt={4} wrap="nowrap" align="flex-start">
          <EffectTag effect={known.effect} />
          <Text size="xs" c="dimmed">
            <UserText>{known.about}</UserText>
          </Text>
        </Group>
      )}
    </>
  );
}

/** A tool in a list: its name, what it is for and what it does. */
export const ToolOption = ({ tool, about, effect }: ToolFacts & { tool: string }) => (
  <Group gap="xs" justify="space-between" wrap="nowrap" w="100%">
    <div style={{ minWidth: 0 }}>
      <Text size="sm">
        <UserText>{tool}</UserText>
      </Text>
      <Text size="xs" c="dimmed" lineClamp={2}>
        <UserText>{about}</UserText>
      </Text>
    </div>
    <EffectTag effect={effect} />
  </Group>
);

const colors: Record<Effect, string> = {
  reads: 'gray',
  computes: 'gray',
  depends: 'warning',
  writes: 'warning',
};

/** What a call can do, in one word. */
export const EffectTag = ({ effect }: { effect: Effect }) => (
  <Tag size="sm" color={colors[effect]}>
    {texts.effects[effect]}
  </Tag>
);
