import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import { startTestGateway } from '../support/gateway.ts';
import { actAsModel } from '../support/model.ts';
import { chargesIn } from '../support/quota.ts';
import { turnEventLoop } from '../support/wait-until.ts';
import { type Outcome, runTask } from './run-task.ts';
import { answer, type Scenario } from './scenarios.ts';
import type { Subject } from './subject.ts';

/** After how long a client that keeps trying is stopped. */
export const timeLimitSeconds = 150;

export interface Result extends Outcome {
  /** Whether it did and printed what is expected. */
  readonly isRight: boolean;
  /** The requests that reached the gateway, including uncharged ones. */
  readonly requests: number;
  readonly charged: number;
  /** From the end of the first request to that of the last. */
  readonly seconds: number;
  /** Whether it requested any stream. */
  readonly streamed: boolean;
}

/** One client in one situation, against a gateway of its own whose upstream acts as a model. */
export async function play(subject: Subject, scenario: Scenario, modules: string): Promise<Result> {
  const { limit, spoilKey = (key) => key, callsTool = false, breaks = false, says } = scenario;
  await using gateway = await startTestGateway();
  gateway.upstream.otherwise(actAsModel({ text: answer, calls: callsTool ? subject.calls : [], breaks }));
  const key = spoilKey(await gateway.issueKey({ limit }));
  const access = { gatewayUrl: gateway.url, serviceName: 'svc', key, contextWindow: 1_000_000 };
  const snippet = createSnippets(access).find(({ id }) => id === subject.client);
  if (!snippet) throw new Error(`there is no block for ${subject.client}`);
  const outcome = await runTask(subject.task(snippet, callsTool), {
    modules,
    environment: subject.quiet,
    timeLimit: timeLimitSeconds * 1000,
  });
  await turnEventLoop(10); // what a stopped client left under way gets to the gateway's log
  const words = says(subject) ?? answer;
  const said = words === '' ? outcome.code === null : outcome.output.includes(words);
  const lines = gateway.log.filter(({ message }) => message === 'answered' || message === 'refused');
  return {
    ...outcome,
    isRight: said && outcome.wroteNote === callsTool,
    requests: lines.length,
    charged: await chargesIn(gateway),
    seconds: (timeOf(lines.at(-1)) - timeOf(lines[0])) / 1000,
    streamed: lines.some(({ stream }) => stream === true),
  };
}

const timeOf = (line: Readonly<Record<string, unknown>> | undefined): number => Date.parse(`${line?.time}`);
