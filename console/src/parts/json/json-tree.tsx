import './json-tree.css';
import { ActionIcon, Group, Text, TextInput } from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconTextPlus } from '@tabler/icons-react';
import { type CSSProperties, type KeyboardEvent, useId, useMemo, useState } from 'react';
import { words } from '#console/src/messages/en/words.ts';
import { code } from '#console/src/messages/en/parts/code.ts';
import { jsonTree as text } from '#console/src/messages/en/parts/json.ts';
import { PATH_TYPE } from '#console/src/parts/code/references.ts';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { treeKey } from '#console/src/parts/data/tree-keys.ts';
import { useWindowed } from '#console/src/parts/data/windowed.ts';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { isSmall, type JsonRow, jsonRows, MOST_ROWS } from './json-rows.ts';

const ROW_HEIGHT = 24;
/** The maximum number of displayed characters per line. The selected line can be copied completely. */
const SHOWN_CHARACTERS = 600;

/** A JSON value as a tree that can be searched, and copied or inserted by value or path. */
export function JsonTree({
  value,
  what = code.theValue,
  onInsert,
}: {
  value: unknown;
  what?: string;
  /** Inserts the path of a value elsewhere; lines can then be dragged, too. */
  onInsert?: (path: string) => void;
}) {
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const small = useMemo(() => isSmall(value), [value]);
  const rows = useMemo(
    () =>
      jsonRows(value, {
        search,
        open: (path, level) => chosen.get(path) ?? (small || level === 1),
      }),
    [value, search, chosen, small],
  );
  const windowed = useWindowed(rows.length, ROW_HEIGHT);
  const [path, setPath] = useState<string>();
  const at = rows.findIndex((row) => row.path === path);
  const active = at === -1 ? undefined : at;
  const toggle = ({ path: of }: JsonRow, open: boolean): void =>
    setChosen((before) => new Map([...before, [of, open] as const]));
  const activate = (row: number): void => {
    setPath(rows[row]?.path);
    windowed.scrollTo(row);
  };
  const row = rows[active ?? 0];
  const id = useId();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / ROW_HEIGHT) - 1);
    const action = treeKey(event.key, rows, active, page);
    if (action === undefined || action === 'close') return;
    event.preventDefault();
    if ('to' in action) activate(action.to);
    else if ('open' in action) toggle(action.row, action.open);
    else if (action.choose.open !== undefined) toggle(action.choose, !action.choose.open);
    else onInsert?.(action.choose.path);
  };
  return (
    <div className="json">
      <Group gap={4} wrap="nowrap" mb={4}>
        <TextInput
          size="xs"
          flex={1}
          miw={0}
          aria-label={text.searchIn(what)}
          placeholder={words.search}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <Copy
          text={textOf(row?.value ?? value)}
          what={active === undefined ? what : code.theValue}
        />
        {row !== undefined && row.path !== '' && active !== undefined && (
          <Copy text={row.path} what={text.path} path />
        )}
        {onInsert !== undefined && (
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={text.insert}
            title={text.insert}
            disabled={active === undefined || row === undefined || row.path === ''}
            onClick={() => row && onInsert(row.path)}
          >
            <IconTextPlus size={16} aria-hidden />
          </ActionIcon>
        )}
      </Group>
      <div
        ref={windowed.frame}
        className="json-lines"
        role="tree"
        tabIndex={0}
        aria-label={what}
        aria-activedescendant={
          active !== undefined && windowed.rows.includes(active) ? `${id}-${active}` : undefined
        }
        // If there are few lines, they can be high, so their texts are not truncated.
        data-few={windowed.rows.length === rows.length || undefined}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: windowed.before }} />
        {rows.length === 0 && <Text size="xs">{text.noMatch}</Text>}
        {windowed.rows.map((index) => {
          const line = rows[index];
          return (
            line !== undefined && (
              <Line
                key={line.path}
                id={`${id}-${index}`}
                row={line}
                active={index === active}
                onPick={() => activate(index)}
                onToggle={() => toggle(line, line.open !== true)}
                {...(onInsert !== undefined && line.path !== '' && { onInsert })}
              />
            )
          );
        })}
        <div style={{ height: windowed.after }} />
      </div>
      <Text size="xs" c="dimmed" className="cut json-path" component="div">
        <UserText>{row?.path}</UserText>
      </Text>
      {rows.length >= MOST_ROWS && <Dimmed size="xs">{text.cut(countText(MOST_ROWS))}</Dimmed>}
    </div>
  );
}

/** A text without quotes, anything else as JSON. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 2);

function Line({
  id,
  row,
  active,
  onPick,
  onToggle,
  onInsert,
}: {
  id: string;
  row: JsonRow;
  active: boolean;
  onPick: () => void;
  onToggle: () => void;
  onInsert?: (path: string) => void;
}) {
  const { name, open, level, size, value } = row;
  const Chevron = open === true ? IconChevronDown : IconChevronRight;
  return (
    <div
      id={id}
      role="treeitem"
      className="json-line"
      aria-level={level}
      aria-expanded={open}
      aria-selected={active}
      data-active={active || undefined}
      style={{ '--level': level - 1 } as CSSProperties}
      onClick={() => {
        onPick();
        if (open !== undefined) onToggle();
        else onInsert?.(row.path);
      }}
      {...(onInsert !== undefined && {
        draggable: true,
        onDragStart: ({ dataTransfer }) => {
          dataTransfer.setData(PATH_TYPE, row.path);
          dataTransfer.setData('text/plain', `{${row.path}}`);
        },
      })}
    >
      <span className="json-chevron">
        {open !== undefined && <Chevron size={14} aria-hidden />}
      </span>
      {name !== undefined && (
        <span className="json-name">
          <UserText>{name}</UserText>
          {': '}
        </span>
      )}
      <ValueText value={value} size={size} />
    </div>
  );
}

function ValueText({ value, size }: { value: unknown; size: number | undefined }) {
  if (size !== undefined) {
    const [begin, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
    return (
      <span className="json-size">
        {size === 0 ? `${begin}${end}` : `${begin}${countText(size)}${end}`}
      </span>
    );
  }
  if (typeof value !== 'string') return <span className="json-plain">{String(value)}</span>;
  const cut = value.length > SHOWN_CHARACTERS;
  return (
    <span className="json-text">
      "<UserText>{cut ? value.slice(0, SHOWN_CHARACTERS) : value}</UserText>"
      {cut && (
        <span className="json-size">
          {' '}
          {code.shown(countText(SHOWN_CHARACTERS), countText(value.length))}
        </span>
      )}
    </span>
  );
}
