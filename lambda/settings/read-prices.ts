import { microsOf } from '../budget/money.ts';
import type { ModelPrices, Prices } from '../budget/prices.ts';
import { isObject, parseJson } from './json.ts';
import type { PublicModel } from './models.ts';

/** Per million tokens, in micros: at most 1 for a token. */
const highestPrice = 1_000_000_000_000;
const mostOutput = 100_000_000;

/** What shells and Docker do to quotation marks, each in its own way. */
function hintFor(text: string): string {
  if (/^\s*\{.*\w/s.test(text) && !text.includes('"')) {
    return ": a shell has taken its quotation marks away, so put the whole of it between two ' in that file";
  }
  return /^(['"]).*\1$/s.test(text.trim())
    ? ': it came with quotation marks around it, which docker --env-file keeps, so leave them out there'
    : '';
}

interface Member {
  readonly expects: string;
  readonly read: (figure: number) => number | undefined;
}

const price: Member = {
  expects: 'a decimal from 0 to 1000000 with at most six places, such as 2.50',
  read: (figure) => {
    const micros = microsOf(figure);
    return micros !== undefined && micros <= highestPrice ? micros : undefined;
  },
};
const maxOutput: Member = {
  expects: `a whole number from 1 to ${mostOutput}`,
  read: (figure) => (Number.isInteger(figure) && figure >= 1 && figure <= mostOutput ? figure : undefined),
};
const members = new Map([
  ...['input', 'output', 'cacheRead', 'cacheWrite'].map((name) => [name, price] as const),
  ['maxOutput', maxOutput],
]);

/**
 * Reads `{"svc": {"input": 2.50, "output": 10}, …}`, which must price every public model. Adds what is wrong to `faults`, each worded
 * to follow the setting's name. `publicModels` is undefined if SERVICE_NAME is wrong; then only the JSON can be checked.
 */
export function readPrices(text: string, publicModels: readonly PublicModel[] | undefined, faults: string[]): Prices {
  const prices = new Map<string, ModelPrices>();
  const models = parseJson(text);
  if (!isObject(models)) {
    faults.push(`must be a JSON object of models, such as {"svc": {"input": 2.50, "output": 10}}${hintFor(text)}`);
    return prices;
  }
  if (publicModels === undefined) return prices;
  for (const [id, value] of Object.entries(models)) {
    const model = publicModels.find((one) => one.id === id);
    if (model) prices.set(id, readModel(value, model, faults));
    else faults.push(`names ${id}, which must be ${publicModels.map((one) => one.id).join(' or ')}`);
  }
  for (const { id } of publicModels) {
    if (!prices.has(id)) faults.push(`lacks ${id}: every public model needs a price`);
  }
  return prices;
}

function readModel(value: unknown, { id: model, kind }: PublicModel, faults: string[]): ModelPrices {
  // Embeddings have no billed output.
  const needed = kind === 'embedding' ? ['input'] : ['input', 'output'];
  const read = new Map<string, number>();
  const given = isObject(value) ? value : undefined;
  if (given === undefined) faults.push(`needs an object with ${needed.join(' and ')} for ${model}`);
  for (const [name, figure] of Object.entries(given ?? {})) {
    const member = members.get(name);
    const known = typeof figure === 'number' ? member?.read(figure) : undefined;
    if (member === undefined) faults.push(`names ${name} of ${model}, which must be ${[...members.keys()].join(', ')}`);
    else if (known === undefined) faults.push(`needs ${member.expects} for ${name} of ${model}`);
    else read.set(name, known);
  }
  for (const name of needed) {
    if (given && !Object.hasOwn(given, name)) faults.push(`lacks ${name} of ${model}`);
  }
  const { input = 0, output = 0, cacheRead = input, cacheWrite = input, ...rest } = Object.fromEntries(read);
  return { input, output, cacheRead, cacheWrite, ...rest };
}
