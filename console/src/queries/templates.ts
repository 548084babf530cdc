import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: ({ signal }) => api().listTemplates({ signal }),
});
