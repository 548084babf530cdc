import type { FastifyRequest } from 'fastify';

/** Whether the caller is a browser that opens a page, and not a program that reads data. */
export const wantsPage = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers.accept?.includes('text/html') === true;
