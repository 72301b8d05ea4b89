import { execFileSync } from 'node:child_process';

/** A release and its commits, the newest first. */
export interface Release {
  readonly version: string;
  /** Of its newest commit, as `2027-01-31`. */
  readonly date: string;
  readonly subjects: readonly string[];
}

/**
 * The history of a checkout, release by release, the newest first. A release is what a tag such as `v1.2.3` ends; what no tag
 * ends yet is of the version that is to come.
 */
export function readHistory(cwd: string, coming: string): readonly Release[] {
  const format = '%cs%x09%s%x09%D';
  const log = execFileSync('git', ['log', '--first-parent', '--decorate-refs=refs/tags/v*', `--format=${format}`], {
    cwd,
    encoding: 'utf8',
  });
  const releases: { version: string; date: string; subjects: string[] }[] = [];
  for (const line of log.trimEnd().split('\n')) {
    const [date = '', subject = '', tags = ''] = line.split('\t');
    const version = /\btag: v(\d\S*?)(,|$)/.exec(tags)?.[1] ?? (releases.length === 0 ? coming : undefined);
    if (version !== undefined) releases.push({ version, date, subjects: [] });
    releases.at(-1)?.subjects.push(subject);
  }
  return releases;
}
