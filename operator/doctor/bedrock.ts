import { translationTarget } from '../../lambda/dialects/names.ts';
import type { Upstream } from '../../lambda/settings/read-upstreams.ts';
import type { ReadToken } from '../../lambda/settings/secrets.ts';
import { deployedRegion } from '../../lib/config.ts';
import { CommandError } from '../command-line.ts';
import { chatProbe, type DialectProbe, dialectProbes } from './dialect-probes.ts';
import { bearer, createProbe, post, quote, type Reply } from './probe.ts';
import { type Checked, type Finding, fail, untested } from './report.ts';
import type { Run } from './run.ts';

type Surroundings = Pick<Run, 'replies' | 'bedrock' | 'openAws'>;

/**
 * If the gateway answered 502, calls each Amazon Bedrock model directly, for one token and with the operator's own credentials,
 * because the gateway hides the reason for a refusal from clients.
 */
export async function* checkBedrock({ replies, bedrock = [], openAws }: Surroundings): AsyncGenerator<Checked> {
  if (bedrock.length === 0 || !replies.some(({ status }) => status === 502)) return;
  const readToken = await openAws();
  for (const upstream of bedrock) {
    for (const model of modelsOf(upstream)) yield [`asked for ${model}`, await checkModel(upstream, model, readToken)];
  }
}

/** Uses the dialect into which the gateway translates requests for this upstream. */
function probeFor({ dialects }: Upstream): DialectProbe {
  const spoken = translationTarget(dialects);
  return dialectProbes.find(({ name }) => name === spoken) ?? chatProbe;
}

function modelsOf(upstream: Upstream): string[] {
  const { text, vision } = upstream.models[probeFor(upstream).name];
  return [...new Set([text, vision])];
}

async function checkModel(upstream: Upstream, model: string, readToken: ReadToken): Promise<Finding> {
  const { tokenRegion: region = '', addresses } = upstream;
  if (region === deployedRegion) return untested('set AWS_REGION to the region of the stack');
  const { name, path, question, keyHeaders } = probeFor(upstream);
  try {
    const { 'x-api-key': _, ...headers } = keyHeaders('');
    const body = question(model, { prompt: 'Say yes.', tokens: 1 });
    const request = post(path.replace('/v1', ''), { ...headers, ...bearer(await readToken(region)) }, body);
    return explain(await createProbe(addresses[name], () => 0)(request), model, region);
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof CommandError && /ENOTFOUND/.test(message)) return fail(noSuchHost(addresses[name], region));
    return untested(`${message}: sign in to AWS (aws sso login), and run this again`);
  }
}

const noSuchHost = (address: string, region: string) =>
  `${new URL(address).hostname} is not found. If other names of AWS are found from here, there is no Bedrock in ${region}: deploy in another region, or set UPSTREAM_BASE_URL to the endpoint of one`;

/**
 * Explains AWS's refusals by their messages, which are documented at
 * https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html and
 * https://repost.aws/knowledge-center/bedrock-invokemodel-api-error.
 */
const refusals: readonly (readonly [words: RegExp, cure: (model: string, region: string) => string])[] = [
  [
    /Authentication failed|Bearer Token has expired|security token .*(invalid|expired)/i,
    (_model, region) =>
      `Bedrock in ${region} does not accept the token: sign in to AWS again, and check the clock and whether the account may use this region`,
  ],
  [
    /don't have access to the model|model access is denied|account is not authorized|use case details have not been submitted/i,
    (model) =>
      `this account has no access to ${model}: somebody who may subscribe to it must call it once in the Bedrock console, and for Claude submit the form there`,
  ],
  [
    /is not authorized to perform/i,
    () =>
      'your own credentials lack this permission, which the doctor needs to tell more. The gateway’s role gets it by the deployment, unless a policy of your organization denies it',
  ],
  [
    /on-demand throughput isn.t supported/i,
    (model) =>
      `${model} can be called only through an inference profile: set the model to the id of one, such as us.${model} (aws bedrock list-inference-profiles)`,
  ],
  [
    /model identifier is invalid|model .*(does not exist|not found|isn't supported)|model_not_found/i,
    (model, region) =>
      `this endpoint has no model ${model} in ${region}: compare aws bedrock list-inference-profiles and list-foundation-models, and docs/upstreams.md on the two endpoints`,
  ],
];

function explain(reply: Reply, model: string, region: string): Finding {
  const { status, text } = reply;
  if (status === 200) {
    return fail(
      'Bedrock answers you, so the gateway’s role lacks a permission: deploy again, and look for a policy of your organization that denies bedrock:InvokeModel or bedrock:CallWithBearerToken',
    );
  }
  const [, cure] = refusals.find(([words]) => words.test(text)) ?? [];
  return cure ? fail(`${cure(model, region)} (${quote(reply)})`) : untested(`Bedrock answered ${quote(reply)}`);
}
