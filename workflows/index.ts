export { backgroundJob } from './background-job.ts';
export { deliverWebhook } from './deliver-webhook.ts';
export { runGraph } from './run/run-graph.ts';
export { runOfReadableType as default } from './run/readable-type.ts';
export { scheduledTrigger } from './scheduled-trigger.ts';
export { sendAlert } from './send-alert.ts';
export { sweep } from './sweep.ts';
