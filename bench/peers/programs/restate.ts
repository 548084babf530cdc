import { createServer } from 'node:http2';
import { createEndpointHandler, service, type Context } from '@restatedev/restate-sdk';
import { announce } from '../serve.ts';

// The service that the Restate server calls: a handler of three steps. The server records the result of each.

const peers = service({
  name: 'peers',
  handlers: {
    chain: async (context: Context): Promise<number> => {
      let value = 0;
      for (const name of ['n1', 'n2', 'n3']) {
        const before = value;
        value = await context.run(name, () => before + 1);
      }
      return value;
    },
  },
});

const server = createServer(createEndpointHandler({ services: [peers] }));
await new Promise<void>((resolve) => {
  server.listen(Number(process.env.PORT), '127.0.0.1', resolve);
});
announce(async () => {
  server.close();
});
