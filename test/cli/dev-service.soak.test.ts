import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createClient } from '#client/index.ts';
import { serviceOf } from '#cli/dev/dev-service.ts';
import type { Session } from '#cli/session.ts';
import { withTerminal } from '#cli/terminal.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { patiently } from '#test/support/patience.ts';
import { environmentOf } from '#test/launcher/drill.ts';

// The service that `ops dev` starts where none answers.

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'dev-service-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

test(
  'a service is started where none answers, and stopped at the end',
  async () => {
    const ports = await freePorts(6);
    const stderr = new PassThrough();
    let printed = '';
    stderr.setEncoding('utf8').on('data', (part: string) => (printed += part));
    const clientAt = (baseUrl: string) => createClient({ baseUrl, retries: 0 });
    const session = { client: clientAt(`http://127.0.0.1:${ports[5]}`), isDefault: true, clientAt };
    const terminal = {
      stdin: Readable.from([]),
      stdout: new PassThrough(),
      stderr,
      env: environmentOf(dataDir, ports),
    };
    const service = await withTerminal(terminal, () =>
      serviceOf(session as unknown as Session, new AbortController().signal),
    );
    expect(service.client.baseUrl).toBe(`http://127.0.0.1:${ports[0]}`);
    expect(await service.client.getHealth()).toMatchObject({ status: 'ok' });
    expect(printed).toContain('Ctrl-C stops everything');
    await service.stop();
    await expect(service.ended).rejects.toThrow('The service has ended');
    await expect(service.client.getHealth()).rejects.toThrow('cannot be reached');
    // A named service is used, whether it answers or not.
    const named = await serviceOf(
      { ...session, isDefault: false } as unknown as Session,
      new AbortController().signal,
    );
    expect(named.client).toBe(session.client);
  },
  patiently(180_000),
);
