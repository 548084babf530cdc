import { jobs } from './jobs.ts';
import { serveJobs } from './serve.ts';

/** The code of the threads of `threads.ts`. */
serveJobs(jobs);
