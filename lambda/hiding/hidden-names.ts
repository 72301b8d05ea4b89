import { isIP } from 'node:net';
import type { Upstream } from '../settings/read-upstreams.ts';

/**
 * The names that no answer may contain: the operator's, and the upstreams' model ids and hosts. If the operator lists none, also the parts
 * of ids and hosts that identify a provider. A model id that is a word of the dialects does not count, unless the operator lists it.
 */
export function hiddenNames(upstreams: readonly Upstream[], operatorNames: readonly string[]): string[] {
  const given = [...new Set([...operatorNames, ...idsOf(upstreams), ...hostsOf(upstreams)])].filter(
    (name) => operatorNames.includes(name) || !dialectWords.has(name.toLowerCase()),
  );
  if (operatorNames.length > 0) return given;
  const parts = idsOf(upstreams).flatMap((id) => id.split(idBreak));
  return [...new Set([...given, ...parts.flatMap(identifying), ...hostsOf(upstreams).flatMap(identifyingHost)])];
}

function idsOf(upstreams: readonly Upstream[]): string[] {
  const models = upstreams.flatMap((upstream) => Object.values(upstream.models));
  return models.flatMap(({ text, vision, embedding = text }) => [text, vision, embedding]);
}

function hostsOf(upstreams: readonly Upstream[]): string[] {
  return [...new Set(upstreams.flatMap(urlsOf))].map((url) => new URL(url).hostname).filter(isDnsName);
}

const urlsOf = ({ addresses, translation: { countUrl } }: Upstream): string[] =>
  countUrl === undefined ? Object.values(addresses) : [...Object.values(addresses), countUrl];

/** `localhost`, bare host names and IP addresses reveal nothing, and occur in many innocent texts. */
function isDnsName(hostname: string): boolean {
  return (
    hostname.includes('.') && isIP(hostname) === 0 && !hostname.startsWith('[') && !hostname.endsWith('.localhost')
  );
}

/** Splits `us.acme.deep-4.6:free`, but not before the 6. */
const idBreak = /[/:@\s]|(?<=[a-z])\.(?=[a-z])/i;
/** `eu-central-1` */
const region = /^[a-z]{2}(-[a-z]+)+-\d$/i;
/** `2025-08-06`, `0528`, `20250514` */
const date = /[-_](\d{4}[-_]\d\d[-_]\d\d|\d{4}|\d{8})$/;
const shortest = 3;
const shortestJoined = 5;

/** The parts of an id that identify it: of `deep-7b-instruct` `deep-7b`; of `acmeron-7b` also `acmeron`. */
function identifying(part: string): string[] {
  if (region.test(part)) return [];
  let joined = part.replace(date, '');
  for (let cut = lastBreak(joined); cut > 0 && isEveryday(joined.slice(cut + 1)); cut = lastBreak(joined)) {
    joined = joined.slice(0, cut);
  }
  const words = part.split(/[-_]/).map((word) => /^\p{L}*/u.exec(word)?.[0] ?? '');
  const distinctive = words.filter((word) => word.length >= shortest && !isEveryday(word));
  const isDistinctive = lastBreak(joined) > 0 && (distinctive.length > 0 || /\d/.test(joined));
  return isDistinctive && joined.length >= shortestJoined && /\p{L}{3}/u.test(joined)
    ? [...distinctive, joined]
    : distinctive;
}

/** Second-level suffixes such as `co.uk`, under which anybody may register: hiding them would spoil other people's addresses. */
const shared = /^(ac|co|go|ne|or)$/;

/** The parts of a host that identify it: of `console.acmeron.com` `acmeron`; of `api.z.ai`, where no single part does, `z.ai`. */
function identifyingHost(host: string): string[] {
  const parts = host.split('.').slice(0, -1);
  const distinctive = parts.flatMap(identifying);
  const last = parts.at(-1) ?? '';
  if (distinctive.length > 0 || last.length >= shortest) return distinctive;
  const labels = shared.test(last) ? 3 : 2;
  return [host.split('.').slice(-labels).join('.')];
}

const lastBreak = (text: string): number => Math.max(text.lastIndexOf('-'), text.lastIndexOf('_'));

const isEveryday = (word: string): boolean => everyday.has(word.toLowerCase());

/**
 * The words in the dialects' own members and values, without which no client could parse an answer. Some servers call their only model
 * `model` or `default`, which identifies nobody.
 */
const dialectWords: ReadonlySet<string> = new Set(
  `
  action added annotation annotations argument arguments assistant audio auto background block byte bytes cache
  cached call calls category chat choice choices chunk citation citations cited code completed completion
  completions container content context created creation custom data default delta detail details developer
  document done effort encrypted end ephemeral error errors event events expires explanation failed file filename
  filter finish format function functions generation id image images incomplete index inference input instruction
  instructions interpreter item items json key length limits list location log logprob logprobs logs management
  max message messages metadata metrics model models moderation name native null number object original outcome
  output outputs page parallel param parameter parameters part partial parts ping previous progress prompt
  prompts properties quality queries query read reason reasoning redacted refusal request requests required
  response responses result results revised role schema search sequence server service session signature size
  source sources standard start status stop store stream string summary system temperature text thinking thought
  tier title token tokens tool tools top total transcript truncation turn type types url usage use user value
  verbosity web
  `
    .trim()
    .split(/\s+/),
);

/** Words of ids and hosts that are also common in text and code: hiding them would spoil answers and hide nothing. */
const everyday = new Set([
  ...dialectWords,
  ...`
  able account accounts actual admin africa agent agents air all alpha alt amazonaws america answer answers any
  apac api apis app apps array asia australia auth awq aws azure azurewebsites backend backup bar base basic
  batch beta big black blank blocks blue boolean bot box build business center central checker classic client
  cloud cloudfront cluster coder coding com command company compute computer connect console core corp customer
  dashboard deep demo dense deploy description dev direct distill docs draft dummy eagle east echo edge embed
  embedding embeddings endpoint endpoints enterprise europe example exp experimental express external eyes fake
  falcon fallback false fast files fine first flash flex foo for free full gateway gguf giant github global
  googleapis gptq gpu granite green guard haiku harness heavy hidden high home host hosted hosting house hub
  hybrid instant instruct int integrate internal java lab labs lambda language large latest lean learn learning
  lite live llm llms local localhost long low machine main math medium mercury micro mini mixture mlx mock mode
  moe multi multilingual my nano net network new next node none north northeast northwest nova office old omni
  one online open opus orca org origin our palm paraphrase phi plan platform plus preview primary prime private
  pro probe prod production project provider providers proxy public python quant question rapid real reasoner red
  region release remote reply rerank reranker research router run runtime safe sample scale scout scripted second
  secondary secret secure seed sentence serve services serving shared sim simple site small smart solar sonar
  sonnet south southeast southwest spare spark speech speed sql stable staging star static step strict stub
  studio suite super swift target team tech test tester the think thinker third titan transformers true tuned
  turbo two ultra uncensored underlying unified upstream upstreams vendor versatile video virtual vision voice
  voyage west white wire word words work worker workers workspace world www your zone
  `
    .trim()
    .split(/\s+/),
]);
