/** What stands at the beginning of a request or an answer. Names of headers are in lower case. */
export interface Head {
  readonly first: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Listener {
  readonly onHead: (head: Head) => void;
  readonly onBody: (bytes: Buffer) => void;
  /** A message is whole; another one may follow. */
  readonly onEnd: () => void;
}

type State =
  | { readonly at: 'head' | 'size' | 'trailer' | 'gap' | 'until the end' }
  | { readonly at: 'body'; left: number; readonly isChunk: boolean };

/** Reads HTTP/1.1, piece by piece, as simply as it can be read. `ofAnswers`: a message without a length ends with its connection. */
export function createHttpReader(listener: Listener, ofAnswers = false) {
  let state: State = { at: 'head' };
  let rest: Buffer = Buffer.alloc(0);

  const over = () => {
    state = { at: 'head' };
    listener.onEnd();
  };

  function readHead(text: string): void {
    const [first = '', ...lines] = text.split('\r\n');
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    listener.onHead({ first, headers });
    const length = headers['content-length'];
    const isEmpty = ofAnswers && /^HTTP\/1.1 (1\d\d|204|304)/.test(first);
    if (headers['transfer-encoding'] === 'chunked') state = { at: 'size' };
    else if (isEmpty || Number(length ?? (ofAnswers ? 1 : 0)) === 0) over();
    else if (length === undefined) state = { at: 'until the end' };
    else state = { at: 'body', left: Number(length), isChunk: false };
  }

  /** Takes a line, without its end; undefined if it has not come yet. */
  function takeUntil(mark: string): string | undefined {
    const end = rest.indexOf(mark);
    if (end < 0) return undefined;
    const text = rest.toString('latin1', 0, end);
    rest = rest.subarray(end + mark.length);
    return text;
  }

  /** Reads the next part. Returns whether there was one. */
  function readOn(): boolean {
    if (state.at === 'body') {
      const bytes = rest.subarray(0, state.left);
      if (bytes.length === 0) return false;
      rest = rest.subarray(bytes.length);
      state.left -= bytes.length;
      listener.onBody(bytes);
      if (state.left === 0 && state.isChunk) state = { at: 'gap' };
      else if (state.left === 0) over();
      return true;
    }
    if (state.at === 'until the end') {
      if (rest.length > 0) listener.onBody(rest);
      rest = Buffer.alloc(0);
      return false;
    }
    const text = takeUntil(state.at === 'head' ? '\r\n\r\n' : '\r\n');
    if (text === undefined) return false;
    if (state.at === 'head') readHead(text);
    else if (state.at === 'gap') state = { at: 'size' };
    else if (state.at === 'trailer') over();
    else {
      const left = Number.parseInt(text, 16);
      state = left === 0 ? { at: 'trailer' } : { at: 'body', left, isChunk: true };
    }
    return true;
  }

  return {
    push(bytes: Buffer): void {
      rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      while (readOn()) {}
    },
    /** The connection has ended. Returns whether no message was broken off. */
    end(): boolean {
      if (state.at === 'until the end') {
        over();
        return true;
      }
      return state.at === 'head' && rest.length === 0;
    },
  };
}

/** An answer or a request in bytes. */
export function httpMessage(first: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${first}\r\n${lines.join('')}\r\n`), body]);
}
