import { z } from 'zod';
import type { Inputs } from './inputs.ts';

const PER_PAGE = 100;
const comments = z.array(z.object({ id: z.number(), body: z.string().nullish() }));

/** Writes a comment to the pull request, or updates the one that an earlier run wrote for the same folder. */
export async function writeComment(
  { api, repository, pullRequest, token }: NonNullable<Inputs['comment']>,
  folder: string,
  text: string,
): Promise<void> {
  const issues = `${api}/repos/${repository}/issues`;
  const request = async (method: string, url: string, body?: object): Promise<unknown> => {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      },
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`GitHub answered ${method} with ${response.status}`);
    return response.json();
  };
  const marker = `<!-- workflow files: ${encodeURIComponent(folder)} -->`;
  const body = `${marker}\n${text}`;
  for (let page = 1; ; page += 1) {
    const url = `${issues}/${pullRequest}/comments?per_page=${PER_PAGE}&page=${page}`;
    const found = comments.parse(await request('GET', url));
    const own = found.find((comment) => comment.body?.startsWith(marker) === true);
    if (own !== undefined) {
      await request('PATCH', `${issues}/comments/${own.id}`, { body });
      return;
    }
    if (found.length < PER_PAGE) break;
  }
  await request('POST', `${issues}/${pullRequest}/comments`, { body });
}
