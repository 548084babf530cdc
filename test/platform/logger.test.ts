import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createLogger, switchLevelBySignal } from '#shared/platform/logger.ts';

test('the logger redacts credentials, also within a request and its headers', () => {
  const lines: string[] = [];
  const log = createLogger(
    { name: 'test', level: 'info' },
    new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  const credentials = { password: 'hush', secret: 'hush', token: 'hush', apiKey: 'hush' };
  log.info(credentials, 'at the top');
  log.info({ body: credentials }, 'in a body');
  log.info({ req: { headers: { authorization: 'hush', 'x-api-key': 'hush' } } }, 'in headers');
  expect(lines).toHaveLength(3);
  expect(lines.join('')).not.toContain('hush');
  expect(lines.join('').split('[redacted]')).toHaveLength(11);
});

test('SIGUSR2 switches a logger and its child to debug, and back', async () => {
  const log = createLogger({ name: 'test', level: 'warn' }, new Writable({ write: () => true }));
  const child = log.child({ part: 'temporal' });
  const end = switchLevelBySignal(log, child);
  const signal = (): Promise<string[]> =>
    new Promise((resolve) => {
      process.once('SIGUSR2', () => resolve([log.level, child.level]));
      process.kill(process.pid, 'SIGUSR2');
    });
  expect(await signal()).toEqual(['debug', 'debug']);
  expect(await signal()).toEqual(['warn', 'warn']);
  end();
});
