import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: ({ signal }) => api().listTemplates({ signal }),
});
