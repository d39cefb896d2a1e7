// What exporters put where a provider wants a text and the log has none. Fixed: same input, same bytes. SPEC 8.

/** Opens a list that would begin with an assistant. */
export const OPENING_TEXT = '[the conversation begins with the assistant]'
/** Stands for a user entry with nothing sendable. */
export const EMPTY_USER_TEXT = '[empty message]'
/** Stands for the content of an empty tool result. */
export const EMPTY_RESULT_TEXT = '[no output]'
/** Stands for an image whose bytes are not there. */
export const MISSING_IMAGE_TEXT = '[image not available]'
/** Stands for an image of a media type that the provider does not take. */
export const UNSUPPORTED_IMAGE_TEXT = '[image of an unsupported type]'
/** Opens the user message to which images move. */
export const MOVED_IMAGES_TEXT = '[images of the messages above, in their order]'
/** The one member of the object that stands for call arguments that are no JSON object; its value is their raw text. */
export const INVALID_ARGUMENTS = 'palimpsest_invalid_arguments'

/** Stands for an image that moved; `position` counts from 1 within the message it moved to. */
export function movedImageText(position: number): string {
  return `[image ${position} of the user message after these results]`
}

/** A system entry that is not the first, as user text. */
export function framedSystemText(text: string): string {
  return `[system message]\n${text}\n[end of system message]`
}
