import { sections, serverSettings, tableSettings } from '../../lambda/settings/definitions.ts';
import { descriptions, serverDescriptions, tableDescriptions } from '../../lambda/settings/descriptions.ts';
import type { Setting, Table } from '../../lambda/settings/read-settings.ts';
import { translationSettings, upstreamSettings } from '../../lambda/settings/upstream-definitions.ts';
import { upstreamDescriptions } from '../../lambda/settings/upstream-descriptions.ts';
import { stackDescriptions } from '../stack-descriptions.ts';
import { stackSections } from '../stack-settings.ts';

/** A setting under its public name, with its description. */
export interface Described {
  readonly name: string;
  readonly setting: Setting<unknown>;
  readonly description: string;
}

type Texts = Readonly<Record<string, string>>;

function describe(table: Table, texts: Texts, prefix = ''): readonly Described[] {
  return Object.entries(table).map(([name, setting]) => ({
    name: prefix + name,
    setting,
    description: texts[name] ?? '',
  }));
}

function describeSections(tables: Readonly<Record<string, Table>>, texts: Readonly<Record<string, Texts>>) {
  return Object.entries(tables).map(([section, table]) => [section, describe(table, texts[section] ?? {})] as const);
}

const ofUpstream = describe(upstreamSettings, upstreamDescriptions, 'UPSTREAM_');
const isForTranslation = ({ name }: Described) => Object.hasOwn(translationSettings, name.replace('UPSTREAM_', ''));

/** All settings by section: those of the config, of an upstream, of the stack, and of the server. */
export const describedSettings: ReadonlyMap<string, readonly Described[]> = new Map([
  ...describeSections(sections, descriptions),
  ['tables', describe(tableSettings, tableDescriptions)],
  ['upstream', ofUpstream.filter((one) => !isForTranslation(one))],
  ['translation', ofUpstream.filter(isForTranslation)],
  ...describeSections(stackSections, stackDescriptions),
  ['server', describe(serverSettings, serverDescriptions)],
]);
