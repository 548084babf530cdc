import { nodeLines as text } from '#console/src/messages/en/graph.ts';
import { durationText } from '#console/src/parts/text/duration.ts';
import { customToolName, type toolParams } from '#shared/tools.ts';
import type { DrawnNode } from './drawn.ts';

/** What a node does, in words. */
export interface NodeLines {
  /** In a few words, for one line of a card. */
  does: string;
  /** Everything, where the line leaves something out. */
  title: string;
  /** Which steps wait for a person; undefined if none does. */
  asks: string | undefined;
}

type Fields = Record<string, unknown>;

/** Describes a node by its saved fields. A draft can contain anything, so fields of another type count as absent. */
export function linesOf({ kind, node }: Pick<DrawnNode, 'kind' | 'node'>): NodeLines {
  const made = described[kind](node);
  const { does, title = does } = typeof made === 'string' ? { does: made } : made;
  const asks = asksOf(node);
  return { does, title: asks === undefined ? title : `${title}\n${asks}`, asks };
}

const described: Record<DrawnNode['kind'], (node: Fields) => string | Description> = {
  agent: agentLine,
  tool: ({ tool_name: name, params }) => toolLine(textOf(name), recordOf(params)),
  code: ({ source }) => codeLine(textOf(source)),
  condition: ({ expression }) => oneLine(expression) || text.noExpression,
  loop: ({ expression }) => text.whileTrue(oneLine(expression) || text.noExpression),
  map: ({ items }) => text.eachItem(oneLine(items) || text.noExpression),
  workflow: ({ workflow, version }) => {
    const name = oneLine(workflow);
    if (name === '') return text.noWorkflow;
    return typeof version === 'number' ? text.ofVersion(name, version) : name;
  },
  human_gate: gateLine,
  wait: waitLine,
  merge: () => text.joins,
};

type Description = { does: string; title?: string };

function agentLine({ model, tools }: Fields): Description {
  const whole = textOf(model) || text.defaultModel;
  const names = listOf(tools).map(toolNameOf);
  // The provider is in the title.
  return {
    does: [whole.split('/').at(-1), names.map(shortName).join(', ')].filter(Boolean).join(' · '),
    title: [whole, ...names].join('\n'),
  };
}

/** The first line that says something; the whole source is the title. */
function codeLine(source: string): Description {
  const lines = source.split('\n').map((line) => line.trim());
  const first = lines.find((line) => line !== '' && !/^(?:\/\*|\*)/.test(line)) ?? '';
  return {
    does: first.replace(/^\/\/\s*/, '') || text.noCode,
    title: source.trim() || text.noCode,
  };
}

function waitLine({ seconds, until, event, any, callback }: Fields): string {
  if (typeof seconds === 'number' && seconds >= 60) return durationText(seconds * 1_000);
  if (seconds !== undefined) return text.waitsSeconds(oneLine(seconds));
  if (until !== undefined) return text.waitsUntil(oneLine(until));
  if (callback === true) return text.waitsCallback;
  const names = [event, ...listOf(any)].map((each) => oneLine(recordOf(each)['name']));
  return text.oneOf(names.filter((name) => name !== '')) || text.noEvent;
}

function gateLine({ approvers, required }: Fields): string {
  const { roles, members } = recordOf(approvers);
  const memberCount = listOf(members).length;
  const who = [
    ...listOf(roles).map(textOf),
    ...(memberCount === 0 ? [] : [text.members(memberCount)]),
  ];
  return [
    who.length === 0 ? text.anyApprover : text.oneOf(who),
    ...(typeof required === 'number' && required > 1 ? [text.approvals(required)] : []),
  ].join(' · ');
}

/** The parameter of a tool that says what a call is about. */
const targets: Partial<Record<string, string>> = {
  send_email: 'to',
  send_chat_message: 'text',
  json_transform: 'expression',
  delay: 'seconds',
  entity_upsert: 'entity_type',
  entity_search: 'entity_type',
  event_emit: 'event_type',
  feed_list: 'name',
  source_report: 'name',
  send_event: 'name',
} satisfies Partial<Record<keyof typeof toolParams, string>>;

function toolLine(name: string, params: Fields): string {
  if (name === '') return text.noTool;
  const parts = ((): unknown[] => {
    if (name === 'http_request') {
      return [`${textOf(params['method']) || 'GET'} ${hostOf(params['url'])}`.trim()];
    }
    if (name === 'mcp') return [params['tool'], hostOf(params['server_url'])];
    return [params[targets[name] ?? '']];
  })();
  return [customToolName(name) ?? name, ...parts.map(oneLine)]
    .filter((part) => part !== '')
    .join(' · ');
}

/** The host of an address, or the beginning of a template. */
function hostOf(url: unknown): string {
  const address = oneLine(url);
  return /^[a-z]+:\/\/([^/?#]+)/i.exec(address)?.[1] ?? address;
}

/** `asks before send_email`, `may ask before …` if it depends on an expression. */
function asksOf({ approval, tools, tool_name: tool, workflow }: Fields): string | undefined {
  const rule = isRecord(approval) ? approval['when'] : approval;
  const own = textOf(tool) || textOf(workflow);
  const steps: readonly (readonly [string, unknown])[] = [
    ...(own === '' ? [] : [[own, rule] as const]),
    ...listOf(tools).map((entry) => [toolNameOf(entry), recordOf(entry)['approval']] as const),
  ];
  const named = (wanted: (rule: unknown) => boolean): string[] =>
    steps.flatMap(([name, each]) => (wanted(each) ? [shortName(name)] : []));
  const always = named((each) => each === 'always');
  const sometimes = named(
    (each) => typeof each === 'string' && each !== 'always' && each !== 'never',
  );
  const parts = [
    ...(always.length === 0 ? [] : [text.asksBefore(always)]),
    ...(sometimes.length === 0 ? [] : [text.mayAskBefore(sometimes)]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

const toolNameOf = (entry: unknown): string => textOf(isRecord(entry) ? entry['name'] : entry);

/** Without `custom:` or `workflow:`. */
const shortName = (name: string): string => name.slice(name.indexOf(':') + 1);

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A value on one line; empty if it is absent. */
function oneLine(value: unknown): string {
  if (value === undefined || value === null) return '';
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  return written.replace(/\s+/g, ' ').trim();
}
