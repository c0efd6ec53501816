/** The body of one request: read once, within the limit of its route, and offered in every form. */
import type { Route } from '../contract/route.ts'
import { hasFields, type ParsedBody, parseBody, readBytes } from '../http/body.ts'

const utf8 = new TextDecoder()

/** What is needed of a context. */
interface Source {
  readonly request: Request
  readonly matched: Route | undefined
  readonly app: { readonly config: { readonly limits: { readonly body: number } } }
}
export interface BodyReader {
  parsed(): Promise<ParsedBody>
  text(): Promise<string>
  bytes(): Promise<Uint8Array<ArrayBuffer>>
}

/** Reads nothing before a caller asks. */
export function createBodyReader({ request, matched, app }: Source): BodyReader {
  let read: Promise<Uint8Array<ArrayBuffer>> | undefined
  let parsed: Promise<ParsedBody> | undefined
  const bytes = (): Promise<Uint8Array<ArrayBuffer>> => (read ??= readBytes(request, matched?.body?.bytes ?? app.config.limits.body))
  const text = async (): Promise<string> => utf8.decode(await bytes())
  // A body of another type stays unread, for a handler that streams it.
  const parse = async (): Promise<ParsedBody> =>
    hasFields(request) ? parseBody(request, await text()) : { fields: {}, form: new URLSearchParams() }
  return { bytes, text, parsed: () => (parsed ??= parse()) }
}
