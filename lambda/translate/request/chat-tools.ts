import type { Cooperative } from '../../json/cooperative.ts';
import type { ClientTool } from '../tools.ts';
import { type Choice, joinStrings, type Offer, paragraph, quote, type Raw } from './asking.ts';
import { refuse } from './refusals.ts';
import type { Writing } from './writing.ts';

const noParameters = '{"type":"object","properties":{}}';
/** A free text is the only argument of a function. */
const freeText =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

/** What it costs to give a tool its name. */
const costOfName = 128;

/** What of a request's tools is sent. */
interface Selection {
  readonly tools: readonly (readonly [name: string, offer: Offer])[];
  readonly choice: string | undefined;
}

/** Selects the tools that the model may call, and gives all of them their names. */
export function* selectTools(writing: Writing): Cooperative<Selection> {
  const { choice } = writing.asking;
  const offers = yield* offersByName(writing);
  const allowed = choice?.allowed && new Set<string>();
  for (const { at, tool } of choice?.allowed ?? []) {
    allowed?.add(offeredName(writing, offers, at, tool));
    if (writing.body.isPauseDue(costOfName)) yield;
  }
  const tools = [...offers].filter(([name]) => allowed === undefined || allowed.has(name));
  const chosen = choice && writeChoice(writing, choice, offers, tools.length);
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

type Offers = ReadonlyMap<string, Offer>;

/** A tool may be offered again, by another search: its first description stands, so that the prompt's beginning stays the same. */
function* offersByName({ asking, names, body, leaveOut }: Writing): Cooperative<Offers> {
  const offers = new Map<string, Offer>();
  for (const offer of asking.offers) {
    const name = names.nameOf(offer.tool);
    const known = offers.get(name);
    if (known === undefined) offers.set(name, offer);
    else if (asking.json.raw(known.at) !== asking.json.raw(offer.at)) leaveOut(offer.at);
    if (body.isPauseDue(costOfName)) yield;
  }
  return offers;
}

function offeredName({ asking, names }: Writing, offers: Offers, at: number, tool: ClientTool): string {
  const name = names.nameOf(tool);
  return offers.has(name) ? name : refuse(asking, at, 'names a tool that is not among the tools. Add it to them.');
}

/** `left`: how many tools may be called. */
function writeChoice(writing: Writing, { at, mode, allowed, forced }: Choice, offers: Offers, left: number): string {
  if (forced !== undefined) {
    return `{"type":"function","function":{"name":${quote(offeredName(writing, offers, at, forced))}}}`;
  }
  if (left === 0 && (mode === 'required' || allowed !== undefined)) {
    refuse(writing.asking, at, 'leaves no tool that this model could call. Offer a function.');
  }
  return quote(mode);
}

function writeFunction(name: string, offer: Offer): Raw[] {
  const { tool, strict, parameters = noParameters } = offer;
  const description = descriptionOf(offer);
  return [
    `{"type":"function","function":{"name":${quote(name)}`,
    ...(description === undefined ? [] : [',"description":', description]),
    ',"parameters":',
    tool.kind === 'custom' ? freeText : parameters,
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
