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

/** Words that stand in ids and hosts, and in any text, code or answer: hiding them would spoil answers and hide nothing. */
const everyday = new Set(
  `
  able account actual admin agent agents alpha alt amazonaws annotations answer answers any apac api apis app apps
  argument arguments array assistant audio auth auto awq aws azure azurewebsites backend backup bar base basic
  batch beta big black blank block blocks blue boolean bot box build business call calls center chat checker choice
  choices classic client cloud cloudfront cluster code coder coding com command completion completions compute
  connect console content core created customer dashboard data deep default delta demo dense deploy description
  detail dev developer direct distill docs document draft dummy eagle east echo edge embed embedding embeddings
  endpoint endpoints enterprise error errors event events example experimental express external eyes fake falcon
  fallback false fast file files fine finish first flash flex foo for format free full function functions gateway
  gguf giant github global googleapis gpu granite green haiku harness heavy hidden high home host hosted hosting
  house hub id image images index inference input instant instruct internal item items json key lab labs lambda
  language large latest lean learn learning length list lite live llm llms local localhost long low machine main
  math max medium mercury message messages micro mini mixture mlx mock mode model models moe multi multilingual my
  name nano net network new next node none north nova null number object office old one online open opus orca org
  origin our output palm param parameters part parts phi plan plus preview primary prime private pro probe prod
  production project prompt properties provider providers proxy public quant question rapid real reason reasoner
  reasoning red region release remote reply request requests required research responses result results role router
  run safe sample scale schema scripted search second secondary secret secure seed serve server service services
  serving session shared signature sim simple site small smart solar sonar sonnet source south spare speech speed
  stable staging standard star start static status stop stream strict string stub studio suite summary super swift
  system target team tech test tester text the think thinker thinking third titan title token tokens tool tools
  true tuned turbo two type ultra uncensored underlying unified upstream upstreams url usage user value vendor
  video virtual vision voice voyage web west white wire word words work worker workers workspace world www your
  zone
  `
    .trim()
    .split(/\s+/),
);
