import type { Cooperative } from '../../json/cooperative.ts';
import { quote, type Raw, type ToolDefinition } from '../request/model-request.ts';
import type { RequestWriter } from '../request/request-writer.ts';
import { descriptionOf, type Selection, schemaOf } from '../request/select-tools.ts';

/** Adds the members of a body that offer tools; nothing if none is left to offer. */
export function* writeTools({ request, body }: RequestWriter, { tools, choice }: Selection): Cooperative<void> {
  if (tools.length === 0) return;
  for (const [index, [name, tool]] of tools.entries()) {
    body.add(index === 0 ? ',"tools":[' : ',', ...writeFunction(name, tool));
    if (body.isPauseDue()) yield;
  }
  body.add(']');
  if (choice?.forced !== undefined) {
    body.add(`,"tool_choice":{"type":"function","function":{"name":${quote(choice.forced)}}}`);
  } else if (choice !== undefined) body.add(',"tool_choice":', quote(choice.mode));
  if (request.oneCall) body.add(',"parallel_tool_calls":false');
}

function writeFunction(name: string, tool: ToolDefinition): Raw[] {
  const description = descriptionOf(tool);
  return [
    `{"type":"function","function":{"name":${quote(name)}`,
    ...(description === undefined ? [] : [',"description":', description]),
    ',"parameters":',
    schemaOf(tool),
    ...(tool.strict === undefined ? [] : [',"strict":', tool.strict]),
    '}}',
  ];
}
