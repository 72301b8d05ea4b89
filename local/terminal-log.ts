import { styleText } from 'node:util';
import { keyPrefix } from '../lambda/identity/issued-keys.ts';
import type { WriteLog } from '../lambda/report/log.ts';
import { plainText } from './plain-text.ts';

type Fields = Readonly<Record<string, unknown>>;
/** A piece of a line, and its style. */
type Cell = readonly [text: string, format: Parameters<typeof styleText>[0]];

/** Writes the log for people: a short line of text for each line of JSON, in colour if the terminal supports it. */
export function createTerminalLog(terminal: NodeJS.WritableStream): WriteLog {
  return (line, call) => {
    const fields = JSON.parse(line) as Fields;
    // In the reader's time zone.
    const time: Cell = [new Date(`${fields.time}`).toTimeString().slice(0, 8), 'dim'];
    const cells = [time, ...(fields.route === undefined ? describeEvent(fields) : describeRequest(fields, call))];
    const styled = cells
      .filter(([text]) => text !== '')
      .map(([text, format]) => styleText(format, plainText(text), { stream: terminal }));
    terminal.write(`${styled.join('  ')}\n`);
  };
}

/** Columns are wide enough for `POST /v1/messages/count_tokens`, and for a key's id if there is one. */
function describeRequest(fields: Fields, call: Parameters<WriteLog>[1]): Cell[] {
  const { route, status, duration, caller, key, member } = fields;
  const who = key ?? (member === undefined ? caller : `member ${`${member}`.slice(0, 8)}`);
  const target = call ? `${call.method} ${withoutHarm(call.path)}` : `${route}`;
  return [
    [target.padEnd(30), 'bold'],
    [`${who ?? '-'}`.padEnd(16), 'none'],
    [`${status ?? ''}`.padStart(3), colourOf(fields)],
    [formatDuration(duration).padStart(6), 'none'],
    ...describeOutcome(fields),
  ];
}

/** The tokens, or what went wrong. */
function describeOutcome(fields: Fields): Cell[] {
  const { inputTokens, outputTokens, usage, message, keyId, end, refunded } = fields;
  const { code, reason, upstreamStatus, cause, causeCode = cause, hint } = fields;
  const tokens = [
    inputTokens !== undefined && `${inputTokens} in`,
    outputTokens !== undefined && `${outputTokens} out`,
  ];
  return [
    [usage === 'absent' ? 'no token counts' : tokens.filter(Boolean).join(', '), 'none'],
    [message === 'answered' || message === 'refused' ? '' : [message, keyId].filter(Boolean).join(' '), 'none'],
    [end === 'client_gone' ? 'client gone' : end === 'failed' ? 'broken off' : '', colourOf(fields)],
    [refunded ? 'refunded' : '', 'cyan'],
    [[code, reason, upstreamStatus, causeCode].filter(Boolean).join(' '), colourOf(fields)],
    [`${hint ?? ''}`, 'yellow'],
  ];
}

/** A line that is not about a request. Fields with a capital initial are metrics. */
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

/** The path is untrusted, so this removes terminal controls and any key in it, and truncates it. */
function withoutHarm(path: string): string {
  const shown = path.replace(/[^\x21-\x7e]/g, '?').replace(keys, `${keyPrefix}…`);
  return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
}
