import { parseArgs } from 'node:util';

/** Reads a command's options, all of them numbers. If one is not, prints the usage and exits. */
export function readNumbers<Name extends string>(
  command: string,
  defaults: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const names = Object.keys(defaults) as Name[];
  const usage = `${command} ${names.map((name) => `[--${name} ${defaults[name]}]`).join(' ')}`;
  const options = Object.fromEntries([...names, 'help'].map((name) => [name, { type: optionType(name) }]));
  try {
    const { values } = parseArgs({ options });
    if (values.help) {
      console.log(usage);
      process.exit(0);
    }
    const numbers: Record<Name, number> = { ...defaults };
    for (const name of names) {
      const given = values[name];
      if (given === undefined) continue;
      numbers[name] = Number(given);
      if (!(numbers[name] >= 0)) throw new TypeError(`--${name} takes a number from 0, not ${given}`);
    }
    return numbers;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

function optionType(name: string): 'boolean' | 'string' {
  return name === 'help' ? 'boolean' : 'string';
}
