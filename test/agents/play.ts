import { createSnippets } from '../../lambda/accounts/pages/cli/snippets.js';
import type { RecordedRequest } from '../support/fake-upstream.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { faultsIn, strictly } from '../support/message-rules.ts';
import { actAsModel } from '../support/model.ts';
import { chargesIn } from '../support/quota.ts';
import { turnEventLoop } from '../support/wait-until.ts';
import { makeHome, type Outcome, runTask } from './run-task.ts';
import { answer, type Group, type Scenario } from './scenarios.ts';
import type { Subject } from './subject.ts';

/** Milliseconds until a client is stopped: one that keeps retrying silently, and any other. */
const limits = { silent: 30_000, longest: 150_000 };

export type Result = Awaited<ReturnType<typeof play>>;

/** Runs one client in one scenario, against its own gateway, whose upstream acts as a model. */
export async function play(group: Group, subject: Subject, scenario: Scenario, modules: string) {
  const { act, reasoningBlock, spoilKey = (key) => key, breaks } = scenario;
  await using gateway = await startTestGateway({ environment: { ...group.environment, ...scenario.environment } });
  await using home = await makeHome(modules, scenario.given);
  const rounds = act && subject.acts[act]?.(home.work);
  const model = actAsModel({
    ...{ text: answer, rounds, reasoningBlock, breaks },
    window: scenario.window?.(subject),
    binds: group.speaks === 'messages',
  });
  gateway.upstream.otherwise(group.speaks === 'messages' ? strictly(model) : model);
  const key = spoilKey(await gateway.issueKey(scenario.key));
  const access = { gatewayUrl: gateway.url, serviceName: 'svc', key, contextWindow: 1_000_000 };
  const snippet = createSnippets(access).find(({ id }) => id === subject.client);
  if (!snippet) throw new Error(`there is no block for ${subject.client}`);
  const outcome = await runTask(subject.task(snippet, act), home, {
    environment: subject.quiet,
    timeLimit: scenario.says(subject) === '' ? limits.silent : limits.longest,
  });
  await turnEventLoop(10); // lets what a stopped client left running reach the gateway's log
  const left = Object.fromEntries(Object.keys(scenario.leaves ?? {}).map((name) => [name, home.read(name)]));
  const lines = gateway.log.filter(({ message }) => message === 'answered' || message === 'refused');
  return {
    ...outcome,
    /** What went wrong. */
    faults: [
      ...findFaults(gateway, group, subject, scenario),
      ...(isSaid(outcome, scenario.says(subject)) ? [] : [`it does not say: ${scenario.says(subject)}`]),
      ...Object.entries(scenario.leaves ?? {}).flatMap(([name, text]) =>
        left[name] === text ? [] : [`${name} is ${JSON.stringify(left[name])}`],
      ),
    ],
    /** The requests that reached the gateway, including uncharged ones. */
    requests: lines.length,
    charged: await chargesIn(gateway),
    /** From the end of the first request to the end of the last. */
    seconds: (timeOf(lines.at(-1)) - timeOf(lines[0])) / 1000,
    streamed: lines.some(({ stream }) => stream === true),
    /** What translation left out, as logged. */
    leftOut: [...new Set(lines.flatMap(({ leftOut }) => (leftOut === undefined ? [] : [`${leftOut}`])))],
  };
}

const isSaid = ({ code, output }: Outcome, words: string | undefined): boolean =>
  words === '' ? code === null : words === undefined || output.includes(words);

/** The faults that an upstream of one dialect finds in a request. */
const faultsOf: Readonly<Record<NonNullable<Group['speaks']>, (request: RecordedRequest) => string[]>> = {
  chat: ({ path }) => (path === '/v1/chat/completions' ? [] : [`${path} was asked`]),
  messages: faultsIn,
};

/** What the client's user would not notice: requests refused for their content, and requests that went elsewhere. */
function findFaults({ log, upstream }: TestGateway, { speaks }: Group, subject: Subject, scenario: Scenario): string[] {
  const brings = scenario.brings?.(subject) ?? [];
  const invalid = scenario.window ? [] : log.filter(({ code }) => code === 'invalid_request');
  const strange = speaks === undefined ? [] : upstream.requests.flatMap(faultsOf[speaks]);
  const isBrought =
    brings.length === 0 || upstream.requests.some(({ body }) => brings.every((text) => body.includes(text)));
  return [
    ...invalid.map(({ requestId }) => `a request was refused as invalid: ${requestId}`),
    ...[...new Set(strange)].map((fault) => `upstream: ${fault}`),
    ...(isBrought ? [] : [`this did not reach the upstream: ${brings.join(' … ')}`]),
  ];
}

const timeOf = (line: Readonly<Record<string, unknown>> | undefined): number => Date.parse(`${line?.time}`);
