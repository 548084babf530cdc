import { Group, Kbd, Modal, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { palette as texts } from '#console/src/messages/en/palette.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { useActions } from './actions.ts';
import { type Command, useCommands } from './commands.ts';
import './palette.css';

/** Finds pages, workflows, runs and members, and performs actions, by keyboard alone. */
export function CommandPalette({
  onClose,
  onShortcuts,
}: {
  onClose: () => void;
  onShortcuts: () => void;
}) {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const commands = useCommands(typed, useActions(onShortcuts));
  const chosen = Math.min(at, commands.length - 1);
  const list = useId();
  const optionId = (index: number) => `${list}-${index}`;
  const choose = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    command.act();
  };
  const press = (event: KeyboardEvent): void => {
    const moved = movedBy(event, chosen, commands.length);
    if (event.nativeEvent.isComposing) return;
    if (moved !== undefined) setAt(moved);
    else if (event.key === 'Enter') choose(commands[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal.Root opened onClose={onClose} size="lg" yOffset="10vh">
      <Modal.Overlay />
      <Modal.Content aria-label={texts.label}>
        <Modal.Body p={0}>
          <TextInput
            data-autofocus
            role="combobox"
            aria-label={texts.field}
            aria-expanded
            aria-controls={list}
            aria-activedescendant={chosen < 0 ? undefined : optionId(chosen)}
            aria-autocomplete="list"
            autoComplete="off"
            placeholder={texts.placeholder}
            leftSection={<IconSearch size={18} aria-hidden />}
            size="lg"
            variant="unstyled"
            px="xs"
            maxLength={200}
            value={typed}
            onChange={({ currentTarget }) => {
              setTyped(currentTarget.value);
              setAt(0);
            }}
            onKeyDown={press}
          />
          <Results {...{ list, commands, chosen, optionId, choose }} onHover={setAt} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function Results({
  list,
  commands,
  chosen,
  optionId,
  onHover,
  choose,
}: {
  list: string;
  commands: readonly Command[];
  chosen: number;
  optionId: (index: number) => string;
  onHover: (index: number) => void;
  choose: (command: Command) => void;
}) {
  return (
    <>
      <div id={list} role="listbox" aria-label={texts.results} className="palette-list">
        {commands.map((command, index) => (
          <Option
            key={command.id}
            id={optionId(index)}
            command={command}
            first={commands[index - 1]?.group !== command.group}
            selected={index === chosen}
            onHover={() => onHover(index)}
            onChoose={() => choose(command)}
          />
        ))}
      </div>
      {commands.length === 0 && (
        <Text c="dimmed" size="sm" p="md">
          {texts.nothing}
        </Text>
      )}
    </>
  );
}

/** The result that an arrow key makes active; undefined for other keys. */
function movedBy({ key }: KeyboardEvent, at: number, count: number): number | undefined {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  return step === undefined || count === 0 ? undefined : (at + step + count) % count;
}

function Option({
  id,
  command: { group, label, detail, keys },
  first,
  selected,
  onHover,
  onChoose,
}: {
  id: string;
  command: Command;
  first: boolean;
  selected: boolean;
  onHover: () => void;
  onChoose: () => void;
}) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <>
      {first && (
        <Text size="xs" c="dimmed" fw={600} px="sm" pt="xs" role="presentation">
          {texts.groups[group]}
        </Text>
      )}
      <div
        ref={row}
        id={id}
        role="option"
        aria-selected={selected}
        className="palette-option"
        // The option under the pointer when the list appears was not chosen on purpose.
        onMouseMove={selected ? undefined : onHover}
        onClick={onChoose}
      >
        <Text size="sm" truncate>
          <UserText>{label}</UserText>
        </Text>
        <Group gap="xs" wrap="nowrap" miw={0}>
          {detail !== undefined && (
            <Text size="xs" c="dimmed" truncate>
              <UserText>{detail}</UserText>
            </Text>
          )}
          {keys !== undefined && <Kbd size="xs">{keys}</Kbd>}
        </Group>
      </div>
    </>
  );
}
