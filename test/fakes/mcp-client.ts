import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** The generations of the protocol: the stateless one, and those that begin with `initialize`. */
export const generations = ['2026-07-28', '2025-11-25'] as const;
export type Generation = (typeof generations)[number];

/** The SDK's own client, connected. It checks every result against the tool's output schema once it listed them. */
export async function connectMcp(
  url: string,
  generation: Generation = '2026-07-28',
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: generation === '2026-07-28' ? { pin: generation } : 'legacy' } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}
