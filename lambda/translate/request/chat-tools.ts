import type { Cooperative } from '../../json/cooperative.ts';
import type { ClientTool } from '../tools.ts';
import { type Choice, joinStrings, type Offer, paragraph, quote, type Raw } from './asking.ts';
import { refuse } from './reading.ts';
import type { Writing } from './writing.ts';

const noParameters = '{"type":"object","properties":{}}';
/** A free text is the only argument of a function. */
const freeText =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

/** A few milliseconds' work: each gets a name. */
const toolsPerTurn = 2_000;

/** What of a request's tools is sent. */
export interface Selection {
  readonly tools: readonly (readonly [name: string, offer: Offer])[];
  readonly choice: string | undefined;
}

/** Selects the tools that the model may call, and gives all of them their names. */
export function* selectTools(writing: Writing): Cooperative<Selection> {
  const { asking, names } = writing;
  const { choice } = asking;
  const offers = yield* offersByName(writing);
  const offered = (place: number, tool: ClientTool): string => {
    const name = names.nameOf(tool);
    return offers.has(name) ? name : refuse(asking, place, 'names a tool that is not among the tools. Add it to them.');
  };
  const forced = choice?.forced && offered(choice.at, choice.forced);
  const allowed = choice?.allowed && new Set<string>();
  for (const [index, { at, tool }] of (choice?.allowed ?? []).entries()) {
    allowed?.add(offered(at, tool));
    if (index % toolsPerTurn === toolsPerTurn - 1) yield;
  }
  const chosen = choice && writeChoice(writing, choice, { forced, left: allowed?.size ?? offers.size });
  const tools = [...offers].filter(([name]) => allowed === undefined || allowed.has(name));
  const unenforced = tools.find(([, { grammar }]) => grammar !== undefined)?.[1].grammar;
  if (unenforced !== undefined) writing.leaveOut(unenforced.at);
  return { tools, choice: chosen };
}

/** Adds the members of a body that offer tools; nothing if none is left to offer. */
export function* writeTools({ asking, body }: Writing, { tools, choice }: Selection): Cooperative<void> {
  if (tools.length === 0) return;
  for (const [index, [name, offer]] of tools.entries()) {
    body.add(index === 0 ? ',"tools":[' : ',', ...writeFunction(name, offer));
    if (body.isPauseDue()) yield;
  }
  body.add(']');
  if (choice !== undefined) body.add(',"tool_choice":', choice);
  if (asking.oneCall) body.add(',"parallel_tool_calls":false');
}

/** A tool may be offered again, by another search: its first description stands, so that the prompt's beginning stays the same. */
function* offersByName({ asking, names, leaveOut }: Writing): Cooperative<ReadonlyMap<string, Offer>> {
  const offers = new Map<string, Offer>();
  for (const [index, offer] of asking.offers.entries()) {
    if (index % toolsPerTurn === toolsPerTurn - 1) yield;
    const name = names.nameOf(offer.tool);
    const known = offers.get(name);
    if (known === undefined) offers.set(name, offer);
    else if (asking.json.raw(known.at) !== asking.json.raw(offer.at)) leaveOut(offer.at);
  }
  return offers;
}

function writeChoice(
  { asking }: Writing,
  { at, mode, allowed }: Choice,
  { forced, left }: { readonly forced: string | undefined; readonly left: number },
): string {
  if (forced !== undefined) return `{"type":"function","function":{"name":${quote(forced)}}}`;
  if (left === 0 && (mode === 'required' || allowed !== undefined)) {
    refuse(asking, at, 'leaves no tool that this model could call. Offer a function.');
  }
  return quote(mode);
}

function writeFunction(name: string, offer: Offer): Raw[] {
  const { tool, strict } = offer;
  const description = descriptionOf(offer);
  const parameters = tool.kind === 'custom' ? freeText : (offer.parameters ?? noParameters);
  return [
    `{"type":"function","function":{"name":${quote(name)}`,
    ...(description === undefined ? [] : [',"description":', description]),
    ',"parameters":',
    parameters,
    ...(strict === undefined ? [] : [',"strict":', strict]),
    '}}',
  ];
}

/** A grammar can only be asked for: it follows the description. */
function descriptionOf({ description, grammar }: Offer): Raw | undefined {
  if (grammar === undefined) return description;
  const intro = joinStrings([quote('The input must match this grammar ('), grammar.syntax, quote('):')], '');
  const asked = joinStrings([intro, grammar.definition], '\\n');
  return description === undefined ? asked : joinStrings([description, asked], paragraph);
}
