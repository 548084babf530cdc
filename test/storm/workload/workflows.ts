import type { Feature } from '#test/storm/world.ts';

const graph = (text: string) => ({
  nodes: [
    { id: 'say', kind: 'tool', tool_name: 'json_transform', params: { expression: `'${text}'` } },
  ],
  edges: [],
});

/** A workflow that is created, changed, published and used, each by a separate request. */
export const workflows: Feature = {
  name: 'workflows',
  weight: 5,
  run: async (world, random, id) => {
    const { owner, colleague } = world.people;
    const created = await world.caller.act(
      owner,
      'create workflow',
      {
        method: 'POST',
        path: '/api/workflows',
        body: { name: `drawn ${id}`, graph: graph('one') },
      },
      { name: `drawn ${id}` },
    );
    if (created.outcome !== 'acknowledged') return;
    const workflowId: string = created.body.id;
    for (let change = 1; change <= random.int(1, 3); change += 1) {
      await world.caller.act(
        random.pick([owner, colleague]),
        'update workflow',
        {
          method: 'PUT',
          path: `/api/workflows/${workflowId}`,
          body: { graph: graph(`change ${change}`) },
        },
        { workflowId },
      );
    }
    await world.caller.act(
      owner,
      'publish workflow',
      { method: 'POST', path: `/api/workflows/${workflowId}/publish` },
      { workflowId },
    );
    await world.caller.act(
      owner,
      'trigger',
      { method: 'POST', path: `/api/workflows/${workflowId}/runs`, body: { act: id } },
      { workflowId, nonce: id, key: null },
    );
  },
};
