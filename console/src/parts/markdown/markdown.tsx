import './markdown.css';
import { Anchor, Code } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { markdown as texts } from '#console/src/messages/en/parts/json.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { type Block, blocksOf } from './blocks.ts';
import type { Inline } from './inline.ts';

/** Longer texts are shown unformatted, because they are not prose. */
export const MOST_MARKDOWN = 30_000;

/** A model's text, formatted. HTML in it is shown as text, and links only lead to the web or a mail program. */
export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="markdown user-text" dir="auto">
      <Blocks blocks={blocks} />
    </div>
  );
}

const Blocks = ({ blocks }: { blocks: readonly Block[] }) =>
  blocks.map((block, index) => <BlockView key={index} block={block} />);

function BlockView({ block }: { block: Block }): ReactNode {
  switch (block.type) {
    case 'heading':
      return <HeadingView heading={block} />;
    case 'paragraph':
      return (
        <p>
          <Inlines parts={block.children} />
        </p>
      );
    case 'code':
      return (
        <>
          {block.info !== undefined && <Dimmed>{block.info}</Dimmed>}
          <Code block tabIndex={0} role="group" aria-label={texts.code}>
            {block.text}
          </Code>
        </>
      );
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list':
      return <ListView list={block} />;
    case 'table':
      return <TableView table={block} />;
    case 'rule':
      return <hr />;
  }
}

/** Models' headings are not those of the page, whose outline they would break. */
function HeadingView({ heading: { level, children } }: { heading: Block & { type: 'heading' } }) {
  return (
    <p className="markdown-heading" data-level={Math.min(level, 4)}>
      <Inlines parts={children} />
    </p>
  );
}

function ListView({ list: { ordered, start, items } }: { list: Block & { type: 'list' } }) {
  const children = items.map((blocks, index) => (
    <li key={index}>
      <Blocks blocks={blocks} />
    </li>
  ));
  return ordered ? <ol start={start}>{children}</ol> : <ul>{children}</ul>;
}

function TableView({ table: { head, rows } }: { table: Block & { type: 'table' } }) {
  return (
    <div className="markdown-table" tabIndex={0} role="group" aria-label={texts.table}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                <Inlines parts={cell} />
                {cell.length === 0 && '–'}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, index) => (
                <td key={index}>
                  <Inlines parts={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Inlines = ({ parts }: { parts: readonly Inline[] }) =>
  parts.map((part, index) => <InlineView key={index} part={part} />);

function InlineView({ part }: { part: Inline }): ReactNode {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'code':
      return <Code>{part.text}</Code>;
    case 'break':
      return <br />;
    case 'link':
      // Hovering shows the target, because the text of a link can say anything.
      return (
        <Anchor
          href={part.href}
          title={part.href}
          target="_blank"
          rel="noopener noreferrer nofollow"
          inherit
          underline="always"
        >
          <Inlines parts={part.children} />
        </Anchor>
      );
    case 'strong':
      return (
        <strong>
          <Inlines parts={part.children} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Inlines parts={part.children} />
        </em>
      );
    case 'strike':
      return (
        <s>
          <Inlines parts={part.children} />
        </s>
      );
  }
}
