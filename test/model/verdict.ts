import type { Case } from './cases.ts';
import type { Answer } from './client.ts';
import type { Delivered } from './ledger.ts';
import type { Outcome } from './outcomes.ts';

/** One try of a request, with the upstream's number. */
export interface Try {
  readonly upstream: number;
  /** Whether the connection had carried another request before. */
  readonly reused: boolean;
}

/** Whether an upstream's key may be resting. */
export type MayRest = (upstream: number) => boolean;

export interface Verdict {
  readonly faults: readonly string[];
  readonly refunded: boolean;
  /** What has to be paid for. */
  readonly delivered?: Delivered | undefined;
}

const said = (answer: Answer): string => `${answer.status} ${answer.headers['x-svc-error'] ?? ''}`.trim();

/** Compares an answer with the one that is due, whatever the upstream did. */
export function expectFixed(answer: Answer | undefined, status: number, code: string | undefined): string[] {
  const due = code === undefined ? String(status) : `${status} ${code}`;
  if (answer && said(answer) === due) return [];
  return [`answered ${answer ? said(answer) : 'nothing'}, not ${due}`];
}

/** Judges the outcome of a request by what its upstreams did. */
export function judgeExchange(one: Case, answer: Answer | undefined, tries: readonly Try[], mayRest: MayRest): Verdict {
  const path = withoutRepeats(one, tries);
  const faults = (typeof path === 'string' ? [path] : judgePath(one, path, mayRest)).map(
    (fault) => `${fault}; answered ${answer ? `${said(answer)}: ${answer.text.slice(0, 200)}` : 'nothing'}`,
  );
  const last = one.plan[tries.at(-1)?.upstream ?? 0];
  if (faults.length > 0 || !last) return { faults, refunded: false };
  const { charged } = last.early && answer?.status === last.early.status ? last.early : last;
  const untrue = one.kind === 'inference' && charged && answer?.text.includes('not charged');
  return {
    faults: [...judgeAnswer(last, answer), ...(untrue ? ['says that it was not charged'] : [])],
    refunded: one.kind === 'inference' && !charged,
    delivered: charged ? last.delivered : undefined,
  };
}

/** The upstreams tried, in order, without the second tries that a dead connection allows. */
function withoutRepeats({ plan }: Case, tries: readonly Try[]): number[] | string {
  const path: number[] = [];
  for (const [index, { upstream }] of tries.entries()) {
    const before = tries[index - 1];
    if (before?.upstream !== upstream) path.push(upstream);
    else if (!plan[upstream]?.looksDead || !before.reused) return `upstream ${upstream} was asked twice`;
  }
  return path;
}

function judgePath({ plan }: Case, path: readonly number[], mayRest: MayRest): string[] {
  const text = `the upstreams were asked in the order ${path.join(', ')}`;
  if (path.length === 0) return plan[0]?.unheard ? [] : ['no upstream was asked'];
  const ending = path.slice(0, -1).find((upstream) => !plan[upstream]?.movesOn);
  if (ending !== undefined) return [`${text}: ${ending} ends a request`];
  // Failover reaches every other upstream, even if its key rests.
  const missing = plan.findIndex((_, upstream) => !path.includes(upstream));
  if (plan[path.at(-1) ?? 0]?.movesOn === true && missing >= 0) return [`${text}: ${missing} is missing`];
  // Only an upstream whose key rests comes out of turn.
  const early = path.find((upstream, at) => path.slice(at).some((later) => later < upstream && !mayRest(later)));
  if (early !== undefined) return [`${text}: ${early} came too early`];
  const skipped = plan.findIndex((_, upstream) => upstream < Math.max(...path) && !path.includes(upstream));
  return skipped < 0 || mayRest(skipped) ? [] : [`${text}: ${skipped} was passed over`];
}

function judgeAnswer(last: Outcome, answer: Answer | undefined): string[] {
  if (last.clientLeaves) return answer ? ['answered a client that had left'] : [];
  if (!answer) return ['no answer'];
  const { status, code } = last;
  const begun = answer.status === 200;
  const fits = answer.status === status || answer.status === last.early?.status;
  const header = answer.headers['x-svc-error'];
  const failed = /"error":\{/.test(answer.text.split('\n\n').at(-2) ?? '');
  const faults: string[] = [];
  if (!fits) faults.push(`answered ${said(answer)}, not ${status} ${code ?? ''}`);
  if (begun ? header !== undefined : header !== code) faults.push(`the header names ${header}, not ${code}`);
  if (begun && failed !== (code !== undefined)) faults.push(`the stream ${failed ? 'failed' : 'ended well'}`);
  return faults;
}
