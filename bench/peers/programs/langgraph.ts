import { randomUUID } from 'node:crypto';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { serve } from '../serve.ts';

// A graph of three nodes. With the durability `sync` a node starts after the checkpoint of the one before is stored, as a
// step here starts after the result of the one before is.

const State = Annotation.Root({ value: Annotation<number>() });
const increment = ({ value }: { value: number }) => ({ value: value + 1 });

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DATABASE_POOL_SIZE),
});
const checkpointer = new PostgresSaver(pool);
await checkpointer.setup();
const graph = new StateGraph(State)
  .addNode('n1', increment)
  .addNode('n2', increment)
  .addNode('n3', increment)
  .addEdge(START, 'n1')
  .addEdge('n1', 'n2')
  .addEdge('n2', 'n3')
  .addEdge('n3', END)
  .compile({ checkpointer });

await serve(
  async () => {
    const configurable = { thread_id: randomUUID() };
    const { value } = await graph.invoke({ value: 0 }, { configurable, durability: 'sync' });
    return value;
  },
  () => pool.end(),
);
