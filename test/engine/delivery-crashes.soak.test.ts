import { expect, test } from '@jest/globals';
import { startHttpServer } from '#test/fakes/http-server.ts';
import { eventually } from '#test/support/engine.ts';
import { startOutbound } from '#test/support/outbound.ts';
import { startWorkerProcess } from '#test/support/processes.ts';

test('a killed worker with unstarted deliveries loses none and records each once', async () => {
  const apart = await startOutbound({ worker: false });
  const receiver = await startHttpServer((_request, response) => void response.end('ok'));
  const { url, seen } = receiver;
  try {
    const { id } = await apart.register(url);
    await apart.happen('entity.created', ...Array.from({ length: 90 }, (_, n) => ({ n })));
    const first = await startWorkerProcess(apart.engine.env);
    await eventually(() => seen.length > 10, 20_000);
    await first.kill();
    const workers = await Promise.all([1, 2].map(() => startWorkerProcess(apart.engine.env)));
    try {
      const deliveries = await apart.settled(id, 60_000);
      expect(deliveries.map((delivery) => delivery.status)).toEqual(
        Array.from({ length: 90 }, () => 'delivered'),
      );
      expect(deliveries.every((delivery) => delivery.log.length === 1)).toBe(true);
      expect(new Set(seen.map((request) => request.headers['x-service-delivery'])).size).toBe(90);
      // Requests in flight when the worker died may arrive twice.
      expect(seen.length).toBeLessThanOrEqual(90 + 8);
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
  } finally {
    await apart.close();
    await receiver.close();
  }
}, 120_000);
