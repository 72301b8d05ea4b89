import { GatewayError } from '../errors.ts';
import { createScanner, type Json, type Scanner, scanLeniently, scanLenientlyInTurns } from '../json/scan.ts';

/** Work on a JSON text. Input and output are plain data, so that it can run in a worker thread. */
export type Work<Input, Output> = (json: Json, input: Input) => Output | Promise<Output>;

/** On whose behalf a job runs. */
export interface Asker {
  readonly caller: string;
  /** Aborts when nobody waits for the job any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs such work on a text: inline, or in a worker thread if it takes long. */
export type Job<Input, Output> = (text: string, input: Input, asker: Asker) => Promise<Output>;

interface JobOptions {
  /** Whether the text may hold the `NaN` and `Infinity` that Python prints. */
  readonly isLenient: boolean;
  /** Whether the work also parses JSON inside strings, such as tool arguments. */
  readonly opensTexts: boolean;
  /** Texts longer than this always go to a thread: for work that rewrites single strings, escape by escape. */
  readonly mostCharacters: number;
  /** How much memory the work takes, in bytes per character. */
  readonly bytesPerCharacter: number;
}

/** A job as it is posted to a worker thread. */
export interface JobMessage {
  /** The name of the work, under which the thread has it too. */
  readonly name: string;
  readonly text: string;
  readonly isLenient: boolean;
  readonly input: unknown;
}

/** The error of a job that takes more time or memory than a job may. */
export class TooMuchWork extends GatewayError {
  constructor(cause: Error) {
    super('service_unavailable', 'This request takes more memory or time to read than the gateway has for one.', {
      advice: 'Send fewer items, tools or values.',
      headers: { 'x-should-retry': 'false' },
      refund: true,
      reason: 'too_much_work',
      cause,
    });
  }
}

/** `memory`: an upper bound on what the job takes, in bytes. */
export type DoInThread = (message: JobMessage, memory: number, asker: Asker) => Promise<unknown>;

/**
 * Up to this many values and keys, work runs inline: it takes a few milliseconds, less than sending the text to a thread. Their number is
 * what counts: a long text with few values is little work, unless the work rewrites single strings.
 */
const mostAtOnce = 20_000;

/** With more characters of JSON inside strings, such as tool arguments, the text goes to a thread: they contain values too. */
const mostOpened = 1_048_576;
const mayBeJson = /"[{[ \\]/y;

export type DefineJob = <Input, Output>(
  name: string,
  work: Work<Input, Output>,
  options?: Partial<JobOptions>,
) => Job<Input, Output>;

/** For the text itself, and for the tape. */
const bytesToScan = 8;

/** Without `doInThread` every job runs inline: for a process that serves one request at a time. */
export function createJobs(doInThread?: DoInThread): DefineJob {
  return (name, work, options = {}) => {
    const { isLenient = false, opensTexts = false, bytesPerCharacter = bytesToScan } = options;
    const { mostCharacters = Number.POSITIVE_INFINITY } = options;
    const scan = isLenient ? scanLeniently : scanStrictly;
    const scanInTurns = isLenient ? scanLenientlyInTurns : scanStrictlyInTurns;
    return async (text, input, asker) => {
      const scanner = createScanner();
      // Each value takes at least one character.
      if (!doInThread || text.length <= mostAtOnce) return work(scan(scanner, text), input);
      const isShort = text.length <= mostCharacters;
      const json = isShort ? await scanInTurns(scanner, text, mostAtOnce) : undefined;
      if (json && !(opensTexts && holdsLongJson(json))) return work(json, input);
      const message = { name, text, isLenient, input };
      return doInThread(message, bytesPerCharacter * text.length, asker) as ReturnType<typeof work>;
    };
  };
}

const scanStrictly = (scanner: Scanner, text: string) => scanner.scan(text);
const scanStrictlyInTurns = (scanner: Scanner, text: string, most: number) => scanner.scanInTurns(text, most);

function holdsLongJson(json: Json): boolean {
  let length = 0;
  for (let node = 0; node < json.size && length <= mostOpened; node += 1) {
    mayBeJson.lastIndex = json.start(node);
    if (mayBeJson.test(json.text)) length += json.end(node) - json.start(node);
  }
  return length > mostOpened;
}
