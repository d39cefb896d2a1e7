/** A JSON value, as `JSON.parse` could have made it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [member: string]: Json | undefined
}
