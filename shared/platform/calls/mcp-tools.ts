import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { jsonObject } from '#shared/contract/common.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { type JsonObject, toStorable } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { BoundedMap } from '#shared/values/bounded-cache.ts';
import type { Egress } from '#shared/platform/egress/egress.ts';
import { inMcpSession, type McpServer } from './mcp-session.ts';

/** A tool as its server lists it. */
export interface ServerTool {
  name: string;
  title: string;
  description: string;
  /** Null: the server has no schema that is an object, so the tool cannot be called here. */
  schema: JsonObject | null;
}

/** The maximum number of tools that are returned. */
const MAX_LISTED_TOOLS = 200;
const MAX_PAGES = 100;
/** The maximum length of all pages as JSON, in characters. */
const MAX_LIST_LENGTH = 8_000_000;

const text = z.string().nullish().catch(null);
const listedTool = z.looseObject({
  name: z.string(),
  title: text,
  description: text,
  inputSchema: jsonObject.nullish().catch(null),
});
/** One unexpected tool does not hide the others. */
const listPage = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().nullish(),
});

/** The tools that a server lists, or those with these names. Throws NodeError, or the signal's reason on abort. */
export const listMcpTools = (
  egress: Egress,
  server: McpServer,
  names?: readonly string[],
): Promise<ServerTool[]> =>
  inMcpSession(egress, server, async (client, options) => {
    const tools: ServerTool[] = [];
    for await (const page of pagesOf(client, options)) {
      tools.push(...page.filter(({ name }) => names?.includes(name) ?? true));
      if (tools.length > MAX_LISTED_TOOLS) {
        const reason = `The server has more than ${MAX_LISTED_TOOLS} tools; choose some with names`;
        throw new NodeError(reason, { retryable: false });
      }
    }
    return tools;
  });

/** The pages of the list. It ends at a cursor that was already seen, and omits tools of earlier pages. */
async function* pagesOf(client: Client, options: RequestOptions): AsyncGenerator<ServerTool[]> {
  const cursors = new Set<string>();
  const names = new Set<string>();
  let cursor: string | undefined;
  let length = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor };
    // Not `listTools`, which fails completely when one tool in the list is unusual.
    const { tools, nextCursor } = await client.request(
      { method: 'tools/list', params },
      listPage,
      options,
    );
    length += JSON.stringify(tools).length;
    if (length > MAX_LIST_LENGTH) {
      const reason = `The server's list of tools has more than ${MAX_LIST_LENGTH} characters`;
      throw new NodeError(reason, { retryable: false });
    }
    const added = tools
      .flatMap((tool) => listedTool.safeParse(tool).data ?? [])
      .filter(({ name }) => !names.has(name));
    for (const { name } of added) names.add(name);
    yield added.map(serverTool);
    if (nextCursor == null || cursors.has(nextCursor)) return;
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  const reason = `The server's list of tools has more than ${MAX_PAGES} pages`;
  throw new NodeError(reason, { retryable: false });
}

const serverTool = ({
  name,
  title,
  description,
  inputSchema,
}: z.infer<typeof listedTool>): ServerTool => ({
  name,
  title: title ?? '',
  description: description ?? '',
  // In the form in which it is stored, so that a stored schema has the same digest as the server's.
  schema: inputSchema == null ? null : (toStorable(inputSchema) as JsonObject),
});

/** An imported tool, and the digest of its schema at the time of the import. */
export interface PinnedTool {
  /** Its name in this service. */
  name: string;
  digest: string;
  /** Whether to ask the server even if a match is cached. */
  fresh?: boolean | undefined;
}

/** How long a match is valid, and how many are cached. */
const MATCH_MS = 60_000;
const matches = new BoundedMap<string, number>(1_000);

/** Throws a final NodeError if the tool's schema on the server has changed since the import. */
export async function checkPin(
  client: Client,
  options: RequestOptions,
  { serverUrl, headers = {}, tool }: McpServer & { tool: string },
  { name, digest, fresh = false }: PinnedTool,
): Promise<void> {
  // A digest, since headers contain secrets. With other credentials, a server may list other tools.
  const key = jsonDigest([serverUrl, headers, tool, digest]);
  if (!fresh && (matches.get(key) ?? 0) > Date.now()) return;
  for await (const page of pagesOf(client, options)) {
    const found = page.find((listed) => listed.name === tool);
    if (found === undefined) continue;
    if (found.schema === null || jsonDigest(found.schema) !== digest) {
      throw refused(
        `Tool '${name}' has changed on its server since it was imported; import it again`,
      );
    }
    matches.set(key, Date.now() + MATCH_MS);
    return;
  }
  throw refused(`Tool '${name}' is no longer on its server`);
}

const refused = (reason: string): NodeError =>
  new NodeError(reason, { retryable: false, definite: true });
