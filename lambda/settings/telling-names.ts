import { givenNames, hostsOf, idsOf } from './hidden-names.ts';
import type { Upstream } from './upstreams.ts';

/** The names that no answer may contain: where the operator gives none, also the parts of ids and hosts that tell whose they are. */
export function hiddenNames(upstreams: readonly Upstream[], operatorNames: readonly string[]): string[] {
  const given = givenNames(upstreams, operatorNames);
  if (operatorNames.length > 0) return given;
  const parts = [
    ...idsOf(upstreams).flatMap((id) => id.split(idBreak)),
    ...hostsOf(upstreams).flatMap((host) => host.split('.').slice(0, -1)),
  ];
  return [...new Set([...given, ...parts.flatMap(identifying)])];
}

/** In `us.acme.deep-4.6:free`, but not before the 6. */
const idBreak = /[/:@\s]|(?<=[a-z])\.(?=[a-z])/i;
/** `eu-central-1` */
const region = /^[a-z]{2}(-[a-z]+)+-\d$/i;
/** `2025-08-06`, `0528`, `20250514` */
const date = /[-_](\d{4}[-_]\d\d[-_]\d\d|\d{4}|\d{8})$/;
const shortest = 3;
const shortestJoined = 5;

/** Of `deep-7b-instruct` that is `deep-7b`; of `acmeron-7b` it is `acmeron` too. */
function identifying(part: string): string[] {
  if (region.test(part)) return [];
  let joined = part.replace(date, '');
  for (let cut = lastBreak(joined); cut > 0 && isEveryday(joined.slice(cut + 1)); cut = lastBreak(joined)) {
    joined = joined.slice(0, cut);
  }
  const words = part.split(/[-_]/).map((word) => /^\p{L}*/u.exec(word)?.[0] ?? '');
  const telling = words.filter((word) => word.length >= shortest && !isEveryday(word));
  const isTelling = lastBreak(joined) > 0 && (telling.length > 0 || /\d/.test(joined));
  return isTelling && joined.length >= shortestJoined && /\p{L}{3}/u.test(joined) ? [...telling, joined] : telling;
}

const lastBreak = (text: string): number => Math.max(text.lastIndexOf('-'), text.lastIndexOf('_'));

const isEveryday = (word: string): boolean => everyday.has(word.toLowerCase());

/** Words that stand in ids and hosts, and in any text or code: hiding them would spoil answers and hide nothing. */
const everyday = new Set(
  `
  able account admin agent agents alpha amazonaws any apac api apis app apps assistant audio auth auto awq aws azure
  azurewebsites backend backup base basic batch beta big black blue bot box build business center chat classic client
  cloud cloudfront cluster code coder coding com command compute connect console core customer dashboard data deep
  default demo dense deploy dev developer direct distill docs draft dummy eagle east echo edge embed embedding
  embeddings endpoint endpoints enterprise example experimental express external eyes fake falcon fallback fast fine
  first flash flex for free full function functions gateway gguf github global googleapis gpu granite green haiku
  heavy hidden high home host hosted hosting house hub image images inference instant instruct internal key lab labs
  lambda language large latest lean learn learning lite live llm llms local localhost long low machine main math max
  medium mercury micro mini mixture mlx mock mode model models moe multi multilingual my nano net network new next
  node north nova office old one online open opus orca org origin our palm phi plan plus preview primary prime private
  pro prod production project prompt provider providers proxy public quant rapid real reasoner reasoning red region
  release remote research responses router run safe sample scale scripted search second secondary secret secure serve
  server service services serving shared simple site small smart solar sonar sonnet south speech speed stable staging
  standard star start static stub studio super swift system target team tech test text the think thinker thinking
  third titan token tokens tool tools tuned turbo ultra uncensored unified upstream upstreams user vendor video
  virtual vision voice voyage web west white word words work worker workers workspace world www your zone
  `
    .trim()
    .split(/\s+/),
);
