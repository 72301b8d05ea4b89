import { GatewayError } from '../errors.ts';
import { createScanner, type Json, type Scanner, scanLeniently, scanLenientlyInTurns } from '../json/scan.ts';

/** Looks into a JSON text: plain data in, plain data out, so that a thread can do it. */
export type Work<Input, Output> = (json: Json, input: Input) => Output | Promise<Output>;

/** Who has a job done. */
export interface Asker {
  readonly caller: string;
  /** Aborts when nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined;
}

/** Does such work on a text: here, or in a thread if it is long. */
export type Job<Input, Output> = (text: string, input: Input, asker: Asker) => Promise<Output>;

interface JobOptions {
  /** Whether the text may hold the `NaN` and `Infinity` that Python prints. */
  readonly isLenient: boolean;
  /** Whether it also looks into texts within the text that are JSON, as the arguments of calls are. */
  readonly opensTexts: boolean;
  /** Length above which its text goes to a thread whatever it holds: for work that rewrites single texts, escape by escape. */
  readonly mostCharacters: number;
  /** How many bytes it takes to do it, for each character. */
  readonly bytesPerCharacter: number;
}

/** A job for a thread. */
export interface Order {
  /** Of the work, which the thread has by the same name. */
  readonly name: string;
  readonly text: string;
  readonly isLenient: boolean;
  readonly input: unknown;
}

/** What a job ends with that takes more time or memory than there is for one. */
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

/** `memory`: how much it may take, in bytes. */
export type DoInThread = (order: Order, memory: number, asker: Asker) => Promise<unknown>;

/**
 * Values and keys up to which a text is looked into at once, which takes a few milliseconds: to send it to a thread would take longer.
 * It is their number that counts: a text of few values is short work, however long it is, but where single texts are rewritten.
 */
const mostAtOnce = 20_000;

/** Characters of JSON inside strings, such as the arguments of calls, above which the text goes to a thread: they hold values too. */
const mostOpened = 1_048_576;
const mayBeJson = /"[{[ \\]/y;

export type DefineJob = <Input, Output>(
  name: string,
  work: Work<Input, Output>,
  options?: Partial<JobOptions>,
) => Job<Input, Output>;

/** For the text itself, and for the places of all that it holds. */
const bytesToScan = 8;

/** Without threads every job is done at once: for a process that serves one request at a time. */
export function createJobs(doInThread?: DoInThread): DefineJob {
  return (name, work, options = {}) => {
    const { isLenient = false, opensTexts = false, bytesPerCharacter = bytesToScan } = options;
    const { mostCharacters = Number.POSITIVE_INFINITY } = options;
    const scan = isLenient ? scanLeniently : scanStrictly;
    const scanInTurns = isLenient ? scanLenientlyInTurns : scanStrictlyInTurns;
    return async (text, input, asker) => {
      const scanner = createScanner();
      // Each value has a character, at least.
      if (!doInThread || text.length <= mostAtOnce) return work(scan(scanner, text), input);
      const isShort = text.length <= mostCharacters;
      const json = isShort ? await scanInTurns(scanner, text, mostAtOnce) : undefined;
      if (json && !(opensTexts && holdsLongJson(json))) return work(json, input);
      const order = { name, text, isLenient, input };
      return doInThread(order, bytesPerCharacter * text.length, asker) as ReturnType<typeof work>;
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
