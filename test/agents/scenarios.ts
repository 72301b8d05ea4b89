import { setImmediate } from 'node:timers/promises';
import { createSnippets } from '../../lambda/wallet/page/snippets.js';
import { startTestGateway } from '../support/gateway.ts';
import { actAsModel } from '../support/model/index.ts';
import { chargesIn } from '../support/quota.ts';
import { type Outcome, runTask } from './run-task.ts';
import type { Subject } from './subject.ts';

const answer = 'Hello from afar.';

interface Scenario {
  readonly title: string;
  /** What becomes of a fresh key. */
  readonly limit?: number;
  readonly spoilKey?: (key: string) => string;
  readonly callsTool?: boolean;
  readonly breaks?: boolean;
  /** Whether the client did what a person would expect. */
  readonly isRight: (outcome: Outcome) => boolean;
}

export const scenarios: readonly Scenario[] = [
  { title: 'One prompt', isRight: ({ output }) => output.includes(answer) },
  {
    title: 'A tool call',
    callsTool: true,
    isRight: ({ output, wroteNote }) => wroteNote && output.includes(answer),
  },
  { title: 'A bad key', spoilKey: (key) => `${key.slice(0, -4)}gone`, isRight: ({ code }) => code !== 0 },
  { title: 'A spent quota', limit: 0, isRight: ({ code }) => code !== 0 },
  { title: 'Streams that break', breaks: true, isRight: () => true },
];

export interface Result extends Outcome {
  readonly isRight: boolean;
  /** That came to the gateway, those included that cost nothing. */
  readonly requests: number;
  readonly charged: number;
}

/** One client in one situation, against a gateway of its own whose upstream acts as a model. */
export async function play(subject: Subject, scenario: Scenario, modules: string): Promise<Result> {
  const { limit, spoilKey = (key) => key, callsTool = false, breaks = false, isRight } = scenario;
  await using gateway = await startTestGateway();
  gateway.upstream.otherwise(actAsModel({ text: answer, calls: callsTool ? subject.calls : [], breaks }));
  const key = spoilKey(await gateway.issueKey({ limit }));
  const access = { gatewayUrl: gateway.url, serviceName: 'svc', key };
  const snippet = createSnippets(access).find(({ id }) => id === subject.client);
  if (!snippet) throw new Error(`there is no block for ${subject.client}`);
  const outcome = await runTask(subject.task(snippet, callsTool), {
    modules,
    environment: subject.quiet,
    timeLimit: 60_000,
  });
  await setImmediate();
  const lines = gateway.log.filter(({ message }) => message === 'answered' || message === 'refused');
  return { ...outcome, isRight: isRight(outcome), requests: lines.length, charged: await chargesIn(gateway) };
}
