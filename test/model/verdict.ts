import type { Case } from './cases.ts';
import type { Answer } from './client.ts';
import type { Delivered } from './ledger.ts';
import type { Outcome } from './outcomes.ts';

interface Verdict {
  readonly faults: readonly string[];
  readonly refunded: boolean;
  /** What must be paid for. */
  readonly delivered?: Delivered | undefined;
}

const said = (answer: Answer): string => `${answer.status} ${answer.headers['x-svc-error'] ?? ''}`.trim();

/** Compares a response with the expected one, whatever the upstream did. */
export function expectFixed(answer: Answer | undefined, status: number, code: string | undefined): string[] {
  const due = code === undefined ? String(status) : `${status} ${code}`;
  if (answer && said(answer) === due) return [];
  return [`answered ${answer ? said(answer) : 'nothing'}, not ${due}`];
}

/** Judges a request's outcome by what the last of its upstreams did. */
export function judgeOutcome(
  one: Case,
  answer: Answer | undefined,
  lastUpstream: number | undefined,
  hasBudget: boolean,
): Verdict {
  const last = one.plan[lastUpstream ?? -1];
  if (!last) return { faults: ['no upstream was asked'], refunded: false };
  const { charged } = last.early && answer?.status === last.early.status ? last.early : last;
  const untrue = one.kind === 'inference' && charged && answer?.text.includes('not charged');
  return {
    faults: [...judgeAnswer(last, answer), ...(untrue ? ['says that it was not charged'] : [])],
    refunded: one.kind === 'inference' && !charged,
    delivered: charged ? (readOnOf(last, hasBudget)?.delivered ?? last.delivered) : undefined,
  };
}

/** What the gateway still reads after the client has disconnected. */
export function readOnOf({ readOn, readOnForBudget }: Outcome, hasBudget: boolean) {
  return hasBudget ? (readOnForBudget ?? readOn) : readOn;
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
