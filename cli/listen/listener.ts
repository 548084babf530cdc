import { hostname } from 'node:os';
import { ApiError, type BodyOf, type Client, type DataEndpoint } from '#client/index.ts';
import { isListener } from '#shared/contract/data/outbound.ts';
import { misuse } from '#cli/endings.ts';

type EventType = BodyOf<'POST /api/webhooks'>['events'][number];

/** A listener of the workspace, by its name and the kind of its records. */
export interface ListenerName {
  url: string;
  isDemo: boolean;
}

/** The listener that the options name; by default, it has the name of this machine. Throws Ending. */
export function listenerNamed(options: { name?: string; demo?: true }): ListenerName {
  const { name = machineName(), demo = false } = options;
  const url = `listen:${name}`;
  if (!isListener(url)) {
    throw misuse(`--name '${name}' has other characters than a-z, 0-9, '.', '_' and '-'`);
  }
  return { url, isDemo: demo };
}

function machineName(): string {
  const name = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 63);
  return name === '' ? 'local' : name;
}

export async function findListener(
  client: Client,
  { url, isDemo }: ListenerName,
): Promise<DataEndpoint | undefined> {
  const all = await client.listEndpoints();
  return all.find((each) => each.url === url && each.is_demo === isDemo);
}

/**
 * The listener with at least these events. Processes with the same name share it, so none takes the events of another
 * away.
 */
export async function ensureListener(
  client: Client,
  name: ListenerName,
  types: readonly EventType[],
): Promise<DataEndpoint> {
  const found = await findListener(client, name);
  if (found === undefined) {
    return client.createEndpoint({ url: name.url, events: [...types], is_demo: name.isDemo });
  }
  const missing = types.filter((type) => !found.events.includes(type));
  if (missing.length === 0) return found;
  try {
    const events = [...found.events, ...missing];
    return await client.updateEndpoint(found.id, { events }, { ifMatch: found.etag });
  } catch (error) {
    const raced = error instanceof ApiError && (error.status === 412 || error.status === 404);
    if (!raced) throw error;
    return ensureListener(client, name, types);
  }
}
