import type { ClientTool } from '../tools.ts';
import { joinStrings, paragraph, quote, type Raw, type ToolChoice, type ToolDefinition } from './model-request.ts';
import { refuse } from './refuse-item.ts';
import type { RequestWriter } from './request-writer.ts';

/** The tools of a request that are sent. */
export interface Selection {
  readonly tools: readonly (readonly [name: string, tool: ToolDefinition])[];
  readonly choice: SelectedChoice | undefined;
}

interface SelectedChoice {
  readonly mode: ToolChoice['mode'];
  /** The upstream's name for the tool that must be called. */
  readonly forced?: string;
}

/** Selects the tools that the model may call, and names all tools. */
export function selectTools(writer: RequestWriter): Selection {
  const { choice } = writer.request;
  const offers = offersByName(writer);
  const allowed = choice?.allowed && new Set<string>();
  for (const { at, tool } of choice?.allowed ?? []) {
    allowed?.add(offeredName(writer, offers, at, tool));
  }
  const tools: Selection['tools'][number][] = [];
  for (const offered of offers) {
    if (allowed === undefined || allowed.has(offered[0])) tools.push(offered);
  }
  const chosen = choice && selectChoice(writer, choice, offers, tools.length);
  const unenforced = tools.find(([, { grammar }]) => grammar !== undefined)?.[1].grammar;
  if (unenforced !== undefined) writer.leaveOut(unenforced.at);
  return { tools, choice: chosen };
}

type Offers = ReadonlyMap<string, ToolDefinition>;

/** Several searches may offer the same tool. Its first description counts, so that the prompt's prefix stays the same for caches. */
function offersByName({ request, names, leaveOut }: RequestWriter): Offers {
  const offers = new Map<string, ToolDefinition>();
  for (const offer of request.tools) {
    const name = names.nameOf(offer.tool);
    const known = offers.get(name);
    if (known === undefined) offers.set(name, offer);
    else if (request.json.raw(known.at) !== request.json.raw(offer.at)) leaveOut(offer.at);
  }
  return offers;
}

function offeredName({ request, names }: RequestWriter, offers: Offers, at: number, tool: ClientTool): string {
  const name = names.nameOf(tool);
  return offers.has(name) ? name : refuse(request, at, 'names a tool that is not among the tools. Add it to them.');
}

/** `left`: how many tools are sent. */
function selectChoice(
  writer: RequestWriter,
  { at, mode, allowed, forced }: ToolChoice,
  offers: Offers,
  left: number,
): SelectedChoice {
  if (forced !== undefined) return { mode, forced: offeredName(writer, offers, at, forced) };
  if (left === 0 && (mode === 'required' || allowed !== undefined)) {
    refuse(writer.request, at, 'leaves no tool that this model could call. Offer a function.');
  }
  return { mode };
}

const noParameters = '{"type":"object","properties":{}}';
/** The parameters of a function whose only argument is a free text. */
const freeText =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

/** The schema of a tool's arguments. An empty schema means the same as none, and many upstreams refuse it. */
export function schemaOf({ tool, parameters }: ToolDefinition): Raw {
  if (tool.kind === 'custom') return freeText;
  return parameters === undefined || /^\{\s*\}$/.test(parameters) ? noParameters : parameters;
}

/** Grammars can't be enforced, so the description asks for it. */
export function descriptionOf({ description, grammar }: ToolDefinition): Raw | undefined {
  if (grammar === undefined) return description;
  const intro = joinStrings([quote('The input must match this grammar ('), grammar.syntax, quote('):')], '');
  const request = joinStrings([intro, grammar.definition], '\\n');
  return description === undefined ? request : joinStrings([description, request], paragraph);
}

/** Lists the tools that a search found, for the model to read. */
export function listFound({ names }: RequestWriter, found: readonly ClientTool[]): Raw {
  return quote(found.map((tool) => names.nameOf(tool)).join('\n') || 'No tools found.');
}
