import { globSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

export const dialectNames = ['chat', 'responses', 'messages'] as const;
export type DialectName = (typeof dialectNames)[number];

interface WireData {
  /** Such as `streams/two-choices.sse`. The folder is the kind. */
  readonly file: string;
  /** Such as `two-choices`. */
  readonly name: string;
  readonly bytes: Buffer;
}

/** What an upstream sends. */
interface UpstreamData<Kind> extends WireData {
  readonly kind: Kind;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** How the stream ends: with its terminal event, without one, or with a reported failure. */
  readonly terminal: 'end' | 'cut' | 'failure';
  /** Whether nothing can be forwarded, so that the client gets a plain HTTP error instead. */
  readonly plainError: boolean;
}

export type StreamFixture = UpstreamData<'stream'>;
/** An error response, recognized by its status (which starts the file's name) or, with status 200, by its body. */
type ErrorFixture = UpstreamData<'error'>;

/** A client's request for the model `svc`: refused if it has `vision` or `stateful`, forwarded otherwise. */
interface RequestFixture extends WireData {
  readonly kind: 'request';
  /** The path of the first image or video, such as `messages[0].content[1]`. */
  readonly vision?: string;
  /** The member that asks for state. */
  readonly stateful?: string;
}

type Fixture = StreamFixture | UpstreamData<'answer'> | ErrorFixture | RequestFixture;

const root = join(import.meta.dirname, '../fixtures');
const kinds = { streams: 'stream', answers: 'answer', errors: 'error', requests: 'request' } as const;
const contentTypes: Readonly<Record<string, string>> = {
  '.sse': 'text/event-stream; charset=utf-8',
  '.json': 'application/json',
  '.html': 'text/html; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

type Remarks = Partial<Omit<UpstreamData<unknown> & RequestFixture, keyof WireData | 'kind' | 'status'>>;

/** A dialect's `index.json`: facts that are in neither the files' names nor their contents. */
function readRemarks(dialect: DialectName): Readonly<Record<string, Remarks>> {
  return JSON.parse(readFileSync(join(root, dialect, 'index.json'), 'utf8'));
}

/** All fixtures of a dialect. */
export function loadFixtures(dialect: DialectName): Fixture[] {
  const remarks = readRemarks(dialect);
  return Object.entries(kinds).flatMap(([folder, kind]) =>
    globSync(`${folder}/*`, { cwd: join(root, dialect) })
      .sort()
      .map((file) => readFixture(dialect, file, kind, remarks[file])),
  );
}

function readFixture(dialect: DialectName, file: string, kind: Fixture['kind'], remarks: Remarks = {}): Fixture {
  const extension = extname(file);
  const data: WireData = { file, name: basename(file, extension), bytes: readFileSync(join(root, dialect, file)) };
  if (kind === 'request') return { ...data, ...remarks, kind };
  return {
    terminal: 'end',
    plainError: false,
    ...data,
    ...remarks,
    kind,
    status: kind === 'error' ? Number.parseInt(data.name, 10) : 200,
    headers: { 'content-type': contentTypes[extension] ?? '', ...remarks.headers },
  };
}
