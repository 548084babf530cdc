import { Button, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { CustomTool } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { tools as text } from '#console/src/messages/en/workspace/tools.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { ToolCard } from './tool-card.tsx';

/** An imported API can have hundreds of tools. */
const SHOWN = 25;

const matches = ({ name, label, description, endpoint_url }: CustomTool, sought: string): boolean =>
  `${name} ${label} ${endpoint_url} ${description}`
    .toLowerCase()
    .includes(sought.trim().toLowerCase());

/** The tools as cards, with a search once there are many. */
export function ToolList({
  tools,
  onEdit,
}: {
  tools: readonly CustomTool[];
  onEdit: (tool: CustomTool) => void;
}) {
  const [sought, setSought] = useState('');
  const [shown, setShown] = useState(SHOWN);
  const found = tools.filter((tool) => matches(tool, sought));
  return (
    <Stack gap="md">
      {tools.length > SHOWN && (
        <TextInput
          type="search"
          label={text.filter}
          value={sought}
          onChange={({ currentTarget: { value } }) => setSought(value)}
        />
      )}
      {found.slice(0, shown).map((tool) => (
        <ToolCard key={tool.id} tool={tool} onEdit={() => onEdit(tool)} />
      ))}
      {found.length === 0 && <Dimmed>{text.noMatch}</Dimmed>}
      {found.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + SHOWN)}>
          {words.showMore}
        </Button>
      )}
    </Stack>
  );
}
