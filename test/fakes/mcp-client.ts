import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/** Versions of the protocol: the stateless one, and those that begin with `initialize`. */
export const generations = ['2026-07-28', '2025-11-25'] as const;
export type Generation = (typeof generations)[number];

/** Connects the SDK's own client. Once it has listed the tools, it checks every result against their output schemas. */
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
