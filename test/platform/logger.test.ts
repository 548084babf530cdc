import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { createLogger } from '#shared/platform/logger.ts';

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
