import { styleText } from 'node:util';
import { keyPrefix } from '../lambda/identity/keys.ts';
import type { WriteLog } from '../lambda/report/log.ts';

type Fields = Readonly<Record<string, unknown>>;
/** A piece of a line, and how it looks. */
type Cell = readonly [text: string, format: Parameters<typeof styleText>[0]];

/** Of a pipe, and of a terminal that does not know its own. */
const usualWidth = 120;
const gap = '  ';
/** The columns that stay the same from line to line: room for `POST /v1/messages/count_tokens` and a key's id, if there is any. */
const wide = { from: 100, target: 30, caller: 16 };
const narrow = { target: 22, caller: 9 };

/** Writes the log for people: for each line of JSON a short one of text, no wider than the terminal and coloured if it likes. */
export function createTerminalLog(terminal: NodeJS.WritableStream & { readonly columns?: number }): WriteLog {
  return (line, call) => {
    const fields = JSON.parse(line) as Fields;
    const width = terminal.columns || usualWidth;
    const cells = fields.route === undefined ? describeEvent(fields) : describeRequest(fields, call, width);
    const styled = cutTo(width, [clockOf(fields), ...cells]).map(([text, format]) =>
      styleText(format, text, { stream: terminal }),
    );
    terminal.write(`${styled.join(gap)}\n`);
  };
}

/** By the clock of whoever reads it. */
const clockOf = ({ time }: Fields): Cell => [new Date(`${time}`).toTimeString().slice(0, 8), 'dim'];

function describeRequest(fields: Fields, call: Parameters<WriteLog>[1], width: number): Cell[] {
  const { route, status, duration, caller, key, member } = fields;
  const who = key ?? (member === undefined ? caller : `member ${`${member}`.slice(0, 8)}`);
  const columns = width < wide.from ? narrow : wide;
  const rest: Cell[] = [
    [shorten(`${who ?? '-'}`, columns.caller).padEnd(columns.caller), 'none'],
    [`${status ?? ''}`.padStart(3), colourOf(fields)],
    [formatDuration(duration).padStart(6), 'none'],
    ...describeOutcome(fields),
  ];
  const target = call ? `${call.method} ${withoutHarm(call.path)}` : `${route}`;
  const left = width - widthOf([clockOf(fields), ...rest]) - gap.length;
  const longest = columns === wide ? Math.max(wide.target, left) : narrow.target;
  return [[shorten(target, longest).padEnd(columns.target), 'bold'], ...rest];
}

/** The tokens, or what went wrong. Whether it was given back comes first, as a narrow terminal cuts the end. */
function describeOutcome(fields: Fields): Cell[] {
  const { inputTokens, outputTokens, usage, message, keyId, end, code, reason, cause, refunded } = fields;
  const tokens = [
    inputTokens !== undefined && `${inputTokens} in`,
    outputTokens !== undefined && `${outputTokens} out`,
  ];
  const outcome: Cell[] = [
    [usage === 'absent' ? 'no token counts' : tokens.filter(Boolean).join(', '), 'none'],
    [message === 'answered' || message === 'refused' ? '' : [message, keyId].filter(Boolean).join(' '), 'none'],
    [end === 'client_gone' ? 'client gone' : end === 'failed' ? 'broken off' : '', colourOf(fields)],
    [refunded ? 'refunded' : '', 'cyan'],
    [[code, reason, cause].filter(Boolean).join(' '), colourOf(fields)],
  ];
  return outcome.filter(([text]) => text !== '');
}

/** A line about something else. What begins with a capital is a metric. */
function describeEvent({ time: _time, level, message, requestId: _id, ...details }: Fields): Cell[] {
  const shown = Object.entries(details).filter(([name, value]) => /^[a-z]/.test(name) && typeof value !== 'object');
  return [
    [`${message}`, level === 'error' ? 'red' : level === 'warn' ? 'yellow' : 'none'],
    [shown.map(([name, value]) => `${name}=${value}`).join(' '), 'dim'],
  ];
}

function colourOf({ level, status }: Fields) {
  if (level === 'error') return 'red';
  return Number(status) >= 400 ? 'yellow' : 'green';
}

function formatDuration(duration: unknown): string {
  if (typeof duration !== 'number') return '';
  return duration < 1_000 ? `${duration} ms` : `${(duration / 1_000).toFixed(duration < 99_950 ? 1 : 0)} s`;
}

const keys = new RegExp(`${keyPrefix}[\\w-]+`, 'g');

/** A client wrote this path: without what a terminal would obey, and without a key that came to stand in it. */
const withoutHarm = (path: string) => path.replace(/[^\x21-\x7e]/g, '?').replace(keys, `${keyPrefix}…`);

const shorten = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text);

const widthOf = (cells: readonly Cell[]) => cells.map(([text]) => text).join(gap).length;

/** The line's beginning, as far as it has room. */
function cutTo(width: number, cells: readonly Cell[]): Cell[] {
  return cells.flatMap(([text, format], index): Cell[] => {
    const left = width - (index === 0 ? 0 : widthOf(cells.slice(0, index)) + gap.length);
    return left > 0 && text !== '' ? [[shorten(text, left), format]] : [];
  });
}
