import { onceOf, type TriggerOptions } from './idempotency.ts';
import { byCursor } from './pages.ts';
import { type CallOptions, pause, type Send } from './request.ts';
import type { AnswerOf, BodyOf, QueryOf } from './routes.ts';
import type { ComparedRun, Experiment, ListedExperiment } from './types.ts';

/** Milliseconds between two reads of an experiment while waiting for its end. */
const LOOK_EVERY_MS = 500;

type ListQuery = QueryOf<'GET /api/workflows/{id}/experiments'>;
type ReadQuery = Omit<QueryOf<'GET /api/experiments/{id}'>, 'format'>;

export const experimentMethods = (send: Send) => ({
  ...changeMethods(send),
  ...listMethods(send),
  ...readMethods(send),
});

function changeMethods(send: Send) {
  return {
    /** Tries a draft or a version on past runs, in the background. */
    startExperiment: (
      workflowId: string,
      body: BodyOf<'POST /api/workflows/{id}/experiments'>,
      options?: TriggerOptions,
    ): Promise<AnswerOf<'POST /api/workflows/{id}/experiments'>> =>
      send('POST /api/workflows/{id}/experiments', [workflowId], { body, ...onceOf(options) }),
    /** Cancels an experiment and its open rehearsals. Existing results are kept. */
    cancelExperiment: (
      experimentId: string,
      options?: CallOptions,
    ): Promise<AnswerOf<'POST /api/experiments/{id}/cancel'>> =>
      send('POST /api/experiments/{id}/cancel', [experimentId], { options }),
  };
}

function listMethods(send: Send) {
  const listExperiments = (
    workflowId: string,
    query: ListQuery = {},
    options?: CallOptions,
  ): Promise<AnswerOf<'GET /api/workflows/{id}/experiments'>> =>
    send('GET /api/workflows/{id}/experiments', [workflowId], { query, options });
  return {
    /** One page, newest first. */
    listExperiments,
    /** Newest first. Requests each page when it is needed. */
    experiments: (
      workflowId: string,
      query: ListQuery = {},
      options?: CallOptions,
    ): AsyncGenerator<ListedExperiment, void, undefined> =>
      byCursor(
        (cursor) => listExperiments(workflowId, { ...query, ...from(cursor) }, options),
        ({ experiments }) => experiments,
      ),
  };
}

function readMethods(send: Send) {
  const getExperiment = (
    experimentId: string,
    query: ReadQuery = {},
    options?: CallOptions,
  ): Promise<Experiment> => send('GET /api/experiments/{id}', [experimentId], { query, options });
  return {
    /** An experiment with a page of its runs, worst first. */
    getExperiment,
    /** The runs of an experiment that are done, worst first. Requests each page when it is needed. */
    experimentRuns: (
      experimentId: string,
      query: ReadQuery = {},
      options?: CallOptions,
    ): AsyncGenerator<ComparedRun, void, undefined> =>
      byCursor(
        (cursor) => getExperiment(experimentId, { ...query, ...from(cursor) }, options),
        ({ runs }) => runs,
      ),
    /** All runs of an experiment that are done, worst first, as CSV with a header row. */
    experimentCsv: async (
      experimentId: string,
      { outcome }: Pick<ReadQuery, 'outcome'> = {},
      options?: CallOptions,
    ): Promise<string> => {
      const query = { format: 'csv', outcome } as const;
      return String(
        (await send('GET /api/experiments/{id}', [experimentId], { query, options })) as unknown,
      );
    },
    /** Yields the experiment now and every half second, until it has ended. */
    async *experimentStates(
      experimentId: string,
      options: CallOptions = {},
    ): AsyncGenerator<Experiment, void, undefined> {
      let experiment: Experiment;
      do {
        experiment = await getExperiment(experimentId, { limit: 1 }, options);
        yield experiment;
        if (experiment.status === 'running') await pause(LOOK_EVERY_MS, options.signal);
      } while (experiment.status === 'running');
    },
  };
}

const from = (cursor: string | undefined) => (cursor === undefined ? {} : { cursor });
