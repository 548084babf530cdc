/** A document of the guide, as the index in `docs/README.md` lists it. */
interface GuideEntry {
  /** Its address, relative to the index, such as `tour.md`, `../SECURITY.md` or `decisions/README.md`. */
  path: string;
  /** The question that it answers, in Markdown. */
  question: string;
}

export interface GuideGroup {
  title: string;
  entries: GuideEntry[];
}

/** The group about the code, which a running service does not contain. */
export const GROUP_ABOUT_CODE = 'You work on the code';

const ENTRY = /^\| \[[^\]]*\]\(([^)\s]+\.md)\) \| (.+?) \|$/;

/** The groups of the index with their documents, in its order. `index`: the Markdown of `docs/README.md`. */
export function guideGroups(index: string): GuideGroup[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const entries = lines.flatMap((line) => {
        const [, path, question] = ENTRY.exec(line) ?? [];
        return path === undefined || question === undefined ? [] : [{ path, question }];
      });
      return { title: title.trim(), entries };
    });
}
