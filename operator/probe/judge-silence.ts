import { type Finding, fail, ok } from '../examination/row.ts';
import type { AskOnce } from './ask.ts';

/** Whether an answer arrives after this many seconds of silence, before its head or within its body. */
export async function judgeSilence(ask: AskOnce, seconds: number, before: 'head' | 'end'): Promise<Finding> {
  const path = `/silence?seconds=${seconds}&before=${before}`;
  const { status, text, complete } = await ask({ path, patience: (seconds + 30) * 1000 });
  if (status === 200 && complete && text === 'begin\nend\n') return ok(`${seconds} s`);
  return fail(status === 200 ? `cut within ${seconds} s` : `${status} within ${seconds} s`);
}
