import { append, reported, serveJobs } from '#shared/platform/threads/serve.ts';
import { type CodeJob, type CodeResult, failureOf, runCode } from './sandbox.ts';

let failed = false;

/** The code of the threads of `run.ts`. */
export const jobs = {
  run: async (job: CodeJob): Promise<{ result: CodeResult; log: string }> => {
    try {
      return { result: await runCode(job, append), log: reported() };
    } catch (error) {
      failed = true;
      return { result: failureOf(error), log: reported() };
    }
  },
};

serveJobs(jobs, () => failed);
