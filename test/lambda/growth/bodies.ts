import { upstreamIdentity } from '../../support/upstream-identity.ts';

/** A text that grows by repeating its worst part. */
export interface Shape {
  readonly name: string;
  readonly text: (times: number) => string;
}

export const shapesOf = (texts: Readonly<Record<string, Shape['text']>>): Shape[] =>
  Object.entries(texts).map(([name, text]) => ({ name, text }));

const [name] = upstreamIdentity.names;

/** Members and elements that readers look at, drop, hide, pass or refuse; `#` becomes the number of each. */
const members = `
  "a#":"Acm" "user":"a" "metadata":{"user_id":"a"} "client_metadata":{"a":"b"} "b":NaN
  "x_#":1 "x_a":"\\n" "model":"m" "model":0,"stream":false "\\u006dodel":"m" "\\n":0 "a#":[]
  "${name}":1 "a":"${name}" "a":"\\n" "type":"${name}" "type":"image" "error":null "id":"\\n"
  "text":"${name}" "text":"\\n" "content":"${name}" "content":[{"text":"Acm"}] "delta":"Acm"
  "reasoning":[{"text":"${name}"}] "signature":"\\n" "name":"\\n" "arguments":"\\n" "input":{"a":1}
  "tool_calls":[{"function":{"name":"\\n"}}] "usage":{"x_a":1} "index":# "logprobs":[1] "effort":"none"
  "part":{"type":"a","text":"a"} "item":{"type":"a","content":[]} "response":{"output":[]} "thinking":false`
  .trim()
  .split(/\s+/);
const elements = `
  NaN 1 [] {} "\\n" "${name}" {"role":"system","content":[{"text":"a"}]} {"role":"user","content":"a"}
  {"name":"\\n"} {"name":"${name}"} {"x_a":1} {"b64_json":"\\n"} {"type":"image"} {"error":{"message":"a"}} {"id":"item_#"}
  {"type":"text","text":"${name}"} {"type":"text","text":"Acm"} {"text":"\\n","logprobs":[{"token":"a"}]}
  {"type":"function_call","name":"${name}","arguments":"\\n"} {"type":"tool_use","input":{}}
  {"type":"document","source":{"type":"base64","data":"\\n"}}
  {"type":"output_text","text":"${name}","logprobs":[{"token":"${name}"}]}
  {"type":"message","content":[{"type":"output_text","text":"Acm","logprobs":[{"token":"${name}"}]}]}
  {"index":#,"message":{"content":"Acm"},"logprobs":{"content":[{"token":"${name}"}]}}
  {"index":#,"delta":{"content":"Acm"},"logprobs":{"content":[{"token":"${name}"}]}}
  {"index":#,"message":{"content":"Acm","tool_calls":[{"function":{"name":"\\n"}}]},"finish_reason":"stop"}
  {"index":#,"delta":{"content":"Acm","tool_calls":[{"function":{"name":"\\n"}}]},"finish_reason":"stop"}
  {"message":{"content":"${name}","x_a":1},"finish_reason":"stop"} {"delta":{"content":"${name}","x_a":1},"finish_reason":"stop"}`
  .trim()
  .split(/\s+/);

/** Replaces `…` by members in an object, else by elements. */
function fill(place: string): Shape[] {
  const [before = '', after = ''] = place.split('…');
  const parts = before.endsWith('[') || after.startsWith(']') ? elements : members;
  return parts.map((part) => ({
    name: before + part + after,
    text: (times) => before + repeat(part, times) + after,
  }));
}

function repeat(part: string, times: number): string {
  return Array.from({ length: times }, (_, at) => part.replaceAll('#', String(at))).join(',');
}

/** Bodies of requests, by dialect. */
export const requests: Readonly<Record<string, readonly string[]>> = {
  chat: ['{"model":"svc","messages":[],…}', '{"model":"svc","messages":[{"content":[…]}]}'],
  responses: [
    ...['{"model":"svc",…}', '{"model":"svc","input":[…]}', '{"model":"svc","input":[{"content":[…]}]}'],
    ...['{"model":"svc","prompt":{…}}', '{"model":"svc","tools":[…]}'],
  ],
  messages: [
    ...['{"model":"svc","messages":[],…}', '{"model":"svc","messages":[{"content":[…]}]}'],
    ...['{"model":"svc","messages":[],"output_config":{…}}'],
  ],
};

/** Whole answers; each is sent as the only event of a stream, too. */
export const answers: Readonly<Record<string, readonly string[]>> = {
  chat: [
    ...['{…}', '{"choices":[…]}', '{"choices":[{…}]}', '{"usage":{…}}'],
    ...['message', 'delta'].flatMap((part) => [
      `{"choices":[{"index":0,"${part}":{…}}]}`,
      `{"choices":[{"index":0,"${part}":{"content":[…]}}]}`,
      `{"choices":[{"index":0,"${part}":{"tool_calls":[…]}}]}`,
    ]),
  ],
  responses: [
    ...['{…}', '{"output":[…]}', '{"tools":[…]}', '{"output":[{"type":"message","content":[…]}]}'],
    ...[
      '{"type":"response.completed","response":{"output":[…],"model":"m"}}',
      '{"type":"response.output_text.delta",…}',
    ],
    ...['{"type":"response.output_text.done",…}', '{"type":"response.shell.delta","delta":{…}}'],
    ...['{"type":"response.output_item.done","item":{…}}', '{"type":"response.content_part.added","part":{…}}'],
  ],
  messages: [
    ...['{…}', '{"content":[…]}', '{"content":[{"type":"text",…}]}', '{"content":[{"type":"a","content":[…]}]}'],
    '{"type":"content_block_delta","index":0,"delta":{…}}',
  ],
};

const call = '{"type":"function_call","call_id":"c#","name":"f#","namespace":"n","arguments":""}';
const output = '{"type":"function_call_output","call_id":"c#","output":[{"type":"input_image","image_url":"a"}]}';
const search = '{"type":"tool_search_call","call_id":"c#","execution":"client","arguments":{"a":"\\n"}}';
const image = '{"type":"image","source":{"type":"base64","media_type":"a","data":"a"}}';
const ask = '{"model":"svc","max_tokens":1,"messages":[{"role":"user","content":"a"}';
const use = '{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"a","input":{}}]}';

const toolCalls =
  '{"role":"assistant","content":null,"tool_calls":[{"id":"c#","type":"function","function":{"name":"f","arguments":"{}"}}]}';
const content = '{"role":"user","content":[{"type":"input_text","text":"a"}],"a#":1}';
const found =
  '{"type":"tool_search_output","call_id":"c#","execution":"client","tools":[{"type":"function","name":"f"}]}';

/** Requests that are translated, by dialect: what repeats stands at the dots. */
export const translated: Readonly<Record<string, readonly (readonly [place: string, part: string])[]>> = {
  responses: [
    ...[content, `${call},${output}`, `${call},${output}`.replaceAll('c#', 'c'), `${search},${found}`].map(inInput),
    ...['{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}]}', '{"type":"web_search_call"}'].map(
      inInput,
    ),
    ...['{"type":"reasoning","summary":[],"encrypted_content":"a"}', '{"role":"user","content":"a"}'].map(inInput),
    ['{"model":"svc","tools":[…]}', '{"type":"namespace","name":"n#","tools":[{"type":"custom","name":"f"}]}'],
    ['{"model":"svc","tools":[…]}', '{"type":"function","name":"f"}'],
  ],
  chat: [
    [`${ask},…]}`, '{"role":"system","content":"a"}'],
    [`${ask},…]}`, '{"role":"assistant","content":"a"},{"role":"user","content":[{"type":"text","text":"a"}],"a#":1}'],
    [`${ask},…]}`, `${toolCalls},{"role":"tool","tool_call_id":"c#","content":"a"}`],
    [`${ask},…]}`, `${toolCalls},{"role":"tool","tool_call_id":"c#","content":"a"}`.replaceAll('c#', 'c')],
    [`${ask},{"role":"user","content":[…]}]}`, '{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}'],
    [`${ask},…]}`, '{"role":"user","content":"a","cache_control":{"type":"ephemeral"}}'],
    [
      `${ask},{"role":"assistant","content":"a","reasoning_details":[…]},{"role":"user","content":"a"}]}`,
      '{"type":"reasoning.encrypted","data":"svc1.a"}',
    ],
    [`${ask}],"tools":[…]}`, '{"type":"function","function":{"name":"f#","parameters":{"a":[]}}}'],
  ],
  messages: [
    [`${ask},{"role":"user","content":[…]}]}`, image],
    [`${ask},…]}`, '{"role":"system","content":"a"}'],
    [`${ask},${use},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[…]}]}]}`, image],
    [`${ask},{"role":"assistant","content":[…]},{"role":"user","content":"a"}]}`, '{"type":"thinking","thinking":"a"}'],
    [`${ask}],"tools":[…]}`, '{"name":"f#","input_schema":{"a":[]}}'],
  ],
};

function inInput(part: string) {
  return ['{"model":"svc","input":[…]}', part] as const;
}

/** Bodies in which a part repeats at the dots. */
export const repeatAll = (places: readonly (readonly [place: string, part: string])[] = []): Shape[] =>
  places.map(([place, part]) => ({
    name: place.replace('…', () => part),
    text: (times) => place.replace('…', () => repeat(part, times)),
  }));

export const fillAll = (places: readonly string[] = []): Shape[] => places.flatMap(fill);
