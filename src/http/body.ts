/** The body of a request: read once, within its limit, and offered in every form (D20, rows 8 and 9). */
import type { BodyType } from '../contract/route.ts'
import { AuthError, HttpError } from '../errors/index.ts'
import { joinBytes } from '../runtime/network.ts'

/** A body as fields and, for forms, with repeated keys. */
export interface ParsedBody {
  fields: Record<string, unknown>
  form: URLSearchParams
}

/** A body in every form. */
export interface BodyReader {
  parsed(): Promise<ParsedBody>
  text(): Promise<string>
  bytes(): Promise<Uint8Array<ArrayBuffer>>
}

const utf8 = new TextDecoder()

/** Reads nothing before it is called, and then once. `limit` in bytes. */
export function createBodyReader(request: Request, limit: number): BodyReader {
  let read: Promise<Uint8Array<ArrayBuffer>> | undefined
  let parsed: Promise<ParsedBody> | undefined
  const bytes = (): Promise<Uint8Array<ArrayBuffer>> => (read ??= readBytes(request, limit))
  const text = async (): Promise<string> => utf8.decode(await bytes())
  // A body of another type stays unread, for a handler that streams it.
  const parse = async (): Promise<ParsedBody> =>
    hasFields(request) ? parseBody(request, await text()) : { fields: {}, form: new URLSearchParams() }
  return { bytes, text, parsed: () => (parsed ??= parse()) }
}

/** The kind of a content type; undefined where the request has no body. */
export function bodyType({ headers, body }: Request): BodyType | undefined {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/x-www-form-urlencoded') return 'form'
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  if (type.startsWith('text/')) return 'text'
  return type === '' && !body ? undefined : 'binary'
}

/** The fields of a JSON object or a form; none for other types. Throws HttpError 400 for what is malformed. */
export function parseBody(request: Request, text: string): ParsedBody {
  return isJson(request) ? fromJson(text) : fromForm(new URLSearchParams(text))
}

/** Whether `parseBody` finds fields in it. */
export function hasFields(request: Request): boolean {
  return isJson(request) || contentType(request).includes('application/x-www-form-urlencoded')
}

/** The whole body. Throws HttpError 400 when it breaks off or was read before, and 413 when it is larger than `limit` bytes. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = (): HttpError => {
    const text = `The body is larger than ${limit} bytes.`
    return new HttpError(413, text, {}, new AuthError(`${text} The option \`limits.body\` raises it.`))
  }
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge()
  if (!request.body) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    const reader = request.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      size += value.byteLength
      if (size > limit) {
        await reader.cancel()
        throw tooLarge()
      }
      chunks.push(value)
    }
  } catch (error) {
    // A client that hangs up, or a body that was consumed before us.
    throw error instanceof HttpError ? error : new HttpError(400, 'Bad request.')
  }
  return joinBytes(chunks, size)
}

function contentType({ headers }: Request): string {
  return headers.get('content-type')?.toLowerCase() ?? ''
}

function isJson(request: Request): boolean {
  return contentType(request).includes('application/json')
}

function fromForm(form: URLSearchParams): ParsedBody {
  const fields: Record<string, unknown> = {}
  form.forEach((value, key) => {
    if (key !== '__proto__') fields[key] = value
  })
  return { fields, form }
}

function fromJson(text: string): ParsedBody {
  let value: unknown
  try {
    // Copied onto other objects later, an own "__proto__" would become a prototype; an escape can spell it, too.
    const suspect = text.includes('__proto__') || text.includes('\\u')
    value = JSON.parse(text, suspect ? (key, item: unknown) => (key === '__proto__' ? undefined : item) : undefined)
  } catch {
    throw new HttpError(400, 'Bad request.', {}, new AuthError('The body of a request is not valid JSON, as its content type says.'))
  }
  const fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
  const form = new URLSearchParams()
  for (const [key, item] of Object.entries(fields)) if (typeof item === 'string') form.append(key, item)
  return { fields, form }
}
