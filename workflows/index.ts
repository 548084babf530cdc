export { runGraph } from './run-graph.ts';
export { sendAlert } from './send-alert.ts';
export { sweep } from './sweep.ts';
