/** Request fields that some dialects don't have, or have in another form. */
const members = [
  'messages|system|tools|functions|tool_choice|function_call|parallel_tool_calls|response_format|output_config|thinking',
  'reasoning_effort|chat_template_kwargs|context_management|max_tokens|max_completion_tokens|stop|stop_sequences|top_k',
  'stream_options|logprobs|top_logprobs',
].join('|');
/** `messages.1.content.0.tool_use.id`, `body.tools[3].function.name`. */
const places = new RegExp(`\\b(?:body\\.)?(?:${members})(?:\\.[\\w-]*\\w|\\[\\d{1,9}\\])+`, 'g');
const first = new RegExp(`^(?:${places.source}|(?:${members})): *`);

/** Removes paths from an upstream's message about a translated request: the client has never seen that body. */
export const removePlaces = (message: string): string => message.replace(first, '').replace(places, '(place removed)');
