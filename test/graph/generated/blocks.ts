import fc from 'fast-check';

/** What decides a condition: the input, or the iterations of the loop or map around it. `broken` cannot be evaluated. */
export type Answer = 'yes' | 'no' | 'early' | 'broken';

/** `assistant`: an agent that calls a tool. `child`: another workflow. `broken`, `slow` and `refused` never succeed: they stand only where their errors are caught. */
export type WorkKind =
  | 'agent'
  | 'assistant'
  | 'transform'
  | 'http'
  | 'child'
  | 'gate'
  | 'wait'
  | 'code'
  | 'merge'
  | 'broken'
  | 'slow'
  | 'refused';

export interface Work {
  kind: WorkKind;
  key: string | undefined;
  /** Attempts of a round, and of an agent those that fail. */
  attempts: number;
  fails: number;
  gate: GateBlock;
}

interface GateBlock {
  /** `short`: no one decides in time, except after a failure of the run. `long`: someone does. */
  deadline: 'none' | 'short' | 'long';
  onTimeout: 'approve' | 'reject' | 'fail';
  approvers: number;
}

/** A part of a graph with one entry and one exit. */
export type Block =
  | ({ type: 'work' } & Work)
  /** A node with error edges. The handler and what follows the node can join. */
  | ({ type: 'catch'; then: Block | undefined; handler: Block | undefined } & Work)
  | { type: 'sequence'; blocks: Block[] }
  | { type: 'fork'; blocks: Block[]; merge: boolean }
  | {
      type: 'branch';
      /** Instead of a condition: a gate, or a wait that continues when its time runs out. Undefined: a condition. */
      gate: GateBlock | 'wait' | undefined;
      answer: Answer;
      yes: Block;
      no: Block | undefined;
      always: Block | undefined;
    }
  | {
      type: 'loop';
      rounds: number;
      max: number;
      body: Block;
      breakAt: number;
      /** What ends the body leads back, too, so that the loop never breaks. */
      direct: boolean;
      tail: Block | undefined;
    }
  | {
      type: 'map';
      /** The number of items; `list`: those of the input, `none`: no list, where its error is caught. */
      size: number | 'list' | 'none';
      concurrency: number;
      collect: boolean;
      key: string | undefined;
      body: Block;
      handler: Block | undefined;
    };

const gateBlock: fc.Arbitrary<GateBlock> = fc.record({
  deadline: fc.constantFrom('none', 'none', 'none', 'short', 'long'),
  onTimeout: fc.constantFrom('approve', 'reject', 'fail'),
  approvers: fc.constantFrom(1, 1, 1, 2),
});

// Few keys, so that nodes write the same ones.
const key = fc.constantFrom(undefined, undefined, undefined, 'shared', 'other');

const work = fc.record({
  kind: fc.constantFrom<WorkKind[]>(
    ...([
      'agent',
      'assistant',
      'transform',
      'transform',
      'http',
      'http',
      'child',
      'gate',
      'wait',
      'code',
      'merge',
    ] as const),
    ...(['broken', 'slow', 'refused'] as const),
  ),
  key,
  attempts: fc.constantFrom(1, 1, 2),
  fails: fc.constantFrom(0, 0, 1, 2),
  gate: gateBlock,
});

/** Undefined in one of two cases. */
const optional = <Value>(value: fc.Arbitrary<Value>) =>
  fc.option(value, { nil: undefined, freq: 2 });

export const { block } = fc.letrec<{ block: Block }>((tie) => ({
  block: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    work.map((fields) => ({ type: 'work' as const, ...fields })),
    fc
      .tuple(work, optional(tie('block')), optional(tie('block')))
      .map(([fields, then, handler]) => ({ type: 'catch' as const, ...fields, then, handler })),
    fc.record({
      type: fc.constant('sequence' as const),
      blocks: fc.array(tie('block'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({
      type: fc.constant('fork' as const),
      blocks: fc.array(tie('block'), { minLength: 1, maxLength: 3 }),
      merge: fc.boolean(),
    }),
    fc.record({
      type: fc.constant('branch' as const),
      gate: optional(fc.oneof(gateBlock, gateBlock, fc.constant('wait' as const))),
      answer: fc.constantFrom<Answer>('yes', 'no', 'early', 'early', 'broken', 'broken'),
      yes: tie('block'),
      no: optional(tie('block')),
      always: optional(tie('block')),
    }),
    fc.record({
      type: fc.constant('loop' as const),
      rounds: fc.integer({ min: 0, max: 3 }),
      max: fc.integer({ min: 1, max: 3 }),
      body: tie('block'),
      breakAt: fc.integer({ min: 1, max: 5 }),
      direct: fc.constantFrom(false, false, true),
      tail: optional(tie('block')),
    }),
    fc.record({
      type: fc.constant('map' as const),
      size: fc.constantFrom<(number | 'list' | 'none')[]>(0, 1, 2, 3, 4, 'list', 'list', 'none'),
      concurrency: fc.integer({ min: 1, max: 3 }),
      collect: fc.boolean(),
      key,
      body: tie('block'),
      handler: optional(tie('block')),
    }),
  ) as fc.Arbitrary<Block>,
}));
