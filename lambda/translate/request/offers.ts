import type { Node } from '../../json/scan.ts';
import type { ClientTool } from '../tools.ts';
import { joinStrings, paragraph, quote } from './parts.ts';
import type { Reading } from './reading.ts';

/** A tool that the model may call. */
export interface Offer {
  readonly at: Node;
  readonly tool: ClientTool;
  readonly description?: string | undefined;
  readonly parameters?: string | undefined;
  readonly strict?: string | undefined;
  /** What the free text of a custom tool must look like. */
  readonly grammar?: { readonly at: Node; readonly syntax: string; readonly definition: string } | undefined;
}

export interface Choice {
  readonly at: Node;
  readonly mode: 'auto' | 'none' | 'required';
  /** The names of the tools that may be called; undefined: all. */
  readonly allowed?: ReadonlySet<string>;
  /** The name of the tool that must be called. */
  readonly forced?: string;
}

/** What of a request's tools is sent, as chat has it. */
export interface Selection {
  readonly tools: readonly string[];
  readonly choice: string | undefined;
}

export type Offers = ReturnType<typeof createOffers>;

/** The tools that a request offers, wherever they stand in it, by their names upstream. */
export function createOffers(reading: Reading) {
  const { json, leftOut, names } = reading;
  const offers = new Map<string, Written>();
  return {
    /** A tool may be offered again, by another search: its first description stands, so that the prompt's beginning stays the same. */
    add(offer: Offer): void {
      const { at, tool, grammar } = offer;
      const name = names.nameOf(tool);
      const known = offers.get(name);
      if (known === undefined) offers.set(name, { at, written: writeFunction(name, offer), grammarAt: grammar?.at });
      else if (json.raw(known.at) !== json.raw(at)) leftOut.push(at);
    },
    /** The name upstream of a tool to choose. */
    nameOf(at: Node, tool: ClientTool): string {
      const name = names.nameOf(tool);
      return offers.has(name) ? name : reading.refuse(at, 'names a tool that is not among the tools. Add it to them.');
    },
    select(choice: Choice | undefined): Selection {
      const tools = [...offers].flatMap(([name, offer]) => (choice?.allowed?.has(name) === false ? [] : [offer]));
      const unenforced = tools.find(({ grammarAt }) => grammarAt !== undefined)?.grammarAt;
      if (unenforced !== undefined) leftOut.push(unenforced);
      if (choice && tools.length === 0 && (choice.mode === 'required' || choice.allowed)) {
        reading.refuse(choice.at, 'leaves no tool that this model could call. Offer a function.');
      }
      return { tools: tools.map(({ written }) => written), choice: choice && writeChoice(choice) };
    },
  };
}

interface Written {
  readonly at: Node;
  readonly written: string;
  readonly grammarAt: Node | undefined;
}

const writeChoice = ({ mode, forced }: Choice): string =>
  forced === undefined ? quote(mode) : `{"type":"function","function":{"name":${quote(forced)}}}`;

const noParameters = '{"type":"object","properties":{}}';
/** A free text is the only argument of a function. */
const freeText =
  '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}';

function writeFunction(name: string, offer: Offer): string {
  const { tool, strict } = offer;
  const description = descriptionOf(offer);
  const described = description === undefined ? '' : `,"description":${description}`;
  const parameters = tool.kind === 'custom' ? freeText : (offer.parameters ?? noParameters);
  const enforced = strict === undefined ? '' : `,"strict":${strict}`;
  return `{"type":"function","function":{"name":${quote(name)}${described},"parameters":${parameters}${enforced}}}`;
}

/** A grammar can only be asked for: it follows the description. */
function descriptionOf({ description, grammar }: Offer): string | undefined {
  if (grammar === undefined) return description;
  const intro = joinStrings([quote('The input must match this grammar ('), grammar.syntax, quote('):')], '');
  const asked = joinStrings([intro, grammar.definition], '\\n');
  return description === undefined ? asked : joinStrings([description, asked], paragraph);
}
