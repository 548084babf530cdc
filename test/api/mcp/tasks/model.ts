import type { Client } from '@modelcontextprotocol/client';
import { contractWords, unknownWords, wordsIn, wordsOfJson, wordsOfMarkdown } from './words.ts';

/** What a task needed, in bytes of JSON and Markdown. */
export interface Needed {
  calls: number;
  /** The list of all tools with their descriptions, and the argument schemas of those that were called. */
  tools: number;
  documents: number;
  answers: number;
}

export interface Problem {
  code: string;
  message: string;
  path?: string;
  value?: any;
  schema?: string;
  choices?: string[];
  guide: string;
}

export interface Explained {
  valid: boolean;
  problems: Problem[];
  schemas: Record<string, any>;
}

/** A scripted model: it has nothing but the person's request and what MCP gives it. */
export interface Model {
  /** Reads a resource, whose address it must have read before. Returns its text. */
  read(uri: string): Promise<string>;
  /** Calls a tool with words that it knows, and returns the result. Throws for a refusal. */
  use(tool: string, args?: Record<string, unknown>): Promise<any>;
  /** The text of the refusal of a call with words that it does not know. Throws if the call is accepted. */
  guess(tool: string, args: Record<string, unknown>): Promise<string>;
  /**
   * Creates a workflow with a graph that is wrong, and corrects its draft with what `explain_validation` answers until it
   * is valid. Returns its id; its draft is what runs.
   */
  mend(
    workflow: { name: string; graph: object },
    correct: (explained: Explained, graph: any) => object | Promise<object>,
  ): Promise<string>;
  needed(): Needed;
}

interface Task {
  request: string;
  /** Names that the model gives itself: of nodes, keys of the state, and fields of inputs. None is a word of the contract. */
  own: readonly string[];
}

/** How often a model corrects a graph before it gives up. */
const MAX_CORRECTIONS = 4;

export async function createModel(client: Client, { request, own }: Task): Promise<Model> {
  const taken = own.filter((name) => contractWords.has(name));
  if (taken.length > 0) {
    throw new Error(`words of the contract are no own names: ${taken.join(', ')}`);
  }
  const { tools } = await client.listTools();
  const schemas = new Map(tools.map((tool) => [tool.name, tool.inputSchema]));
  const listed = tools.map(({ name, title, description }) => ({ name, title, description }));
  const needed: Needed = { calls: 0, tools: bytesOf(listed), documents: 0, answers: 0 };
  const words = new Set([...wordsIn(request), ...own, ...wordsOfJson(listed)]);
  let raw = `${request}\n${client.getInstructions() ?? ''}\n${JSON.stringify(listed)}`;

  const heard = (kind: 'tools' | 'answers', value: unknown, isGuess = false): void => {
    needed[kind] += bytesOf(value);
    const told = isGuess ? withoutEcho(value) : value;
    raw += `\n${JSON.stringify(told)}`;
    for (const word of wordsOfJson(told)) words.add(word);
  };
  const wasRead = (text: string): boolean => raw.includes(JSON.stringify(text));

  const refuseUnknown = (tool: string, sent: unknown, known: ReadonlySet<string>): void => {
    const unknown = unknownWords(sent, { words: known, wasRead });
    if (unknown.length === 0) return;
    throw new Error(`${tool} was sent words that nothing over MCP says: ${unknown.join(', ')}`);
  };

  let last = '';
  let guesses = false;
  const call = async (tool: string, args: Record<string, unknown>) => {
    if (!schemas.has(tool)) throw new Error(`no tool is named ${tool}`);
    const schema = schemas.get(tool);
    if (!wasRead(`schema of ${tool}`)) heard('tools', { [`schema of ${tool}`]: schema });
    const isGuess = guesses;
    if (!isGuess) refuseUnknown(tool, args, words);
    const said = `${tool} ${JSON.stringify(args)}`;
    const isPoll = said === last;
    last = said;
    const { isError, structuredContent, content } = (await client.callTool({
      name: tool,
      arguments: args,
    })) as any;
    // Asked until it is done: how often depends on the machine.
    if (!isPoll) {
      needed.calls += 1;
      heard('answers', isError === true ? content : structuredContent, isGuess);
    }
    return isError === true
      ? { refusal: content.map(({ text }: any) => text).join('\n') as string }
      : { result: structuredContent };
  };
  const use: Model['use'] = async (tool, args = {}) => {
    const { result, refusal } = await call(tool, args);
    if (refusal !== undefined) throw new Error(`${tool}: ${refusal}`);
    return result;
  };

  return {
    read: async (uri) => {
      if (!raw.includes(uri)) throw new Error(`nothing over MCP names the resource ${uri}`);
      const { contents } = await client.readResource({ uri });
      const { text, mimeType } = contents[0] as { text: string; mimeType: string };
      needed.documents += Buffer.byteLength(text);
      raw += `\n${text}`;
      const found =
        mimeType === 'text/markdown' ? wordsOfMarkdown(text) : wordsOfJson(JSON.parse(text));
      for (const word of found) words.add(word);
      return text;
    },
    use,
    guess: async (tool, args) => {
      guesses = true;
      const { refusal } = await call(tool, args);
      guesses = false;
      if (refusal === undefined) throw new Error(`${tool} accepted what should be wrong`);
      return refusal;
    },
    mend: async ({ name, graph }, correct) => {
      guesses = true;
      const { id } = await use('create_workflow', { name, graph });
      let explained: Explained = await use('explain_validation', { workflow: id });
      if (explained.valid) throw new Error('the first graph should be wrong');
      let drawn: object = graph;
      let etag: string | undefined;
      for (let tries = 0; !explained.valid; tries += 1) {
        if (tries === MAX_CORRECTIONS) throw new Error(JSON.stringify(explained.problems));
        // What is still wrong may stay for now, but each new word must have been read.
        const kept = wordsOfJson(drawn);
        drawn = await correct(explained, structuredClone(drawn));
        refuseUnknown('save_draft', drawn, new Set([...words, ...kept]));
        const match = etag === undefined ? {} : { if_match: etag };
        ({ etag } = await use('save_draft', { workflow: id, graph: drawn, ...match }));
        explained = await use('explain_validation', { workflow: id, draft: true });
      }
      guesses = false;
      refuseUnknown('save_draft', drawn, words);
      return id;
    },
    needed: () => ({ ...needed }),
  };
}

/** What repeats the caller's own words. */
const ECHO = new Set(['graph', 'input_schema', 'value', 'path']);

/** An answer without what it repeats of a guess: a model must not learn its own mistakes. */
function withoutEcho(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEcho);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !ECHO.has(key))
      .map(([key, inner]) => [key, key === 'schemas' ? inner : withoutEcho(inner)]),
  );
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
