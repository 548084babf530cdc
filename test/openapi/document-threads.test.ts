import { afterAll, describe, expect, test } from '@jest/globals';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { AppError } from '#shared/errors.ts';
import { pinnedParts } from '#shared/openapi/imported.ts';
import { operationsUntrusted } from '#shared/platform/threads/documents.ts';
import { documentThreads, WorkBusyError } from '#shared/platform/threads/threads.ts';
import { onMainThread } from '#test/support/main-thread.ts';
import { soakTest } from '#test/support/soak.ts';
import { documentText, documentWith, imported } from './documents.ts';

afterAll(() => documentThreads.close());

const small = JSON.stringify(documentWith({ '/a': { get: { operationId: 'a' } } }));

describe('a document', () => {
  test('is imported on a thread as here, and the main thread stays free', async () => {
    const text = documentText('github.json');
    const { result, share } = await onMainThread(() => operationsUntrusted('ws_1', text));
    const here = imported(text);
    const digested = here.operations.map((each) => ({
      ...each,
      digest: jsonDigest(pinnedParts(each)),
    }));
    expect(result).toEqual({ ...here, operations: digested });
    expect(share).toBeLessThan(0.25);
  });

  test('takes documents that it refers to along', async () => {
    const text = JSON.stringify(documentWith({ '/a': { $ref: 'https://b.example/a.yaml' } }));
    const documents = new Map([['https://b.example/a.yaml', 'get: { operationId: b }']]);
    expect(await operationsUntrusted('ws_1', text, { documents })).toMatchObject({
      operations: [{ operation: 'b' }],
      missing: [],
    });
    expect(await operationsUntrusted('ws_1', text)).toMatchObject({
      operations: [],
      missing: ['https://b.example/a.yaml'],
    });
  });

  test('that cannot be imported is invalid, with the reason', async () => {
    await expect(operationsUntrusted('ws_1', 'x')).rejects.toEqual(
      new AppError('invalid', 'The document is not OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0'),
    );
  });

  soakTest(
    'of YAML that needs more memory than a thread has is invalid, and others go on',
    async () => {
      const lines = Array.from({ length: 900_000 }, (_, n) => `a${n}: { b: c }`);
      const text = `openapi: 3.1.0\npaths: {}\n${lines.join('\n')}`;
      await expect(operationsUntrusted('ws_1', text)).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(/^The document cannot be imported: it takes more than /),
      });
      expect(await operationsUntrusted('ws_2', small)).toMatchObject({ operations: [{}] });
    },
  );

  test('waits while another of its workspace is imported, and too many are refused', async () => {
    const all = Array.from({ length: 6 }, () => operationsUntrusted('ws_1', small));
    const outcomes = await Promise.allSettled(all);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.map((each) => (each as PromiseRejectedResult).reason as unknown)).toEqual(
      refused.map(() => expect.any(WorkBusyError)),
    );
    expect(outcomes[0]?.status).toBe('fulfilled');
  });

  test('stops when its caller aborts', async () => {
    const abort = new AbortController();
    const work = operationsUntrusted('ws_1', documentText('github.json'), {}, abort.signal);
    abort.abort(new Error('gone'));
    await expect(work).rejects.toThrow('gone');
  });
});
