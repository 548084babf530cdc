import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts, requireFreePort } from '#scripts/stack/ports.ts';

describe('ports', () => {
  let taken: Server;
  let port = 0;

  beforeAll(async () => {
    [port = 0] = await freePorts(1);
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    await new Promise((resolve) => taken.close(resolve));
  });

  test('the error for a taken port names the port, its purpose and its variable in one line', async () => {
    await expect(
      requireFreePort({ port, purpose: 'the API', variable: 'API_PORT' }),
    ).rejects.toThrow(
      new RegExp(`^Port ${port} is taken .*the API needs it.* set API_PORT [^\\n]*$`),
    );
  });

  test('an address of another machine is not reported as a taken port', async () => {
    await expect(
      requireFreePort({ port, purpose: 'the API', variable: 'API_PORT', host: '203.0.113.1' }),
    ).rejects.toThrow(`the API cannot listen on 203.0.113.1:${port} (EADDRNOTAVAIL)`);
  });

  test('ports picked together are free and different', async () => {
    const picked = await freePorts(5);
    expect(new Set(picked).size).toBe(5);
    // Outside the range of outgoing connections.
    expect(picked.filter((each) => each >= 32_768)).toEqual([]);
    for (const free of picked) {
      await requireFreePort({ port: free, purpose: 'this test', variable: 'NONE' });
    }
  });
});
