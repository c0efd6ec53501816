/** Reads a request's body within its limit (D20, rows 8 and 9). */
import { AuthError, HttpError } from './errors.ts'

/** A body as fields and, for forms, with repeated keys. */
export interface ParsedBody {
  fields: Record<string, unknown>
  form: URLSearchParams
}

/** JSON object or form. Throws HttpError 400 (malformed) or 413 (larger than `limit` bytes). */
export async function readBody(request: Request, limit: number): Promise<ParsedBody> {
  const type = request.headers.get('content-type')?.toLowerCase() ?? ''
  const isJson = type.includes('application/json')
  if (!isJson && !type.includes('application/x-www-form-urlencoded')) return { fields: {}, form: new URLSearchParams() }
  const text = await readText(request, limit)
  return isJson ? fromJson(text) : fromForm(new URLSearchParams(text))
}

function fromForm(form: URLSearchParams): ParsedBody {
  const fields: Record<string, unknown> = {}
  for (const [key, value] of form) if (key !== '__proto__') fields[key] = value
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

async function readText(request: Request, limit: number): Promise<string> {
  const tooLarge = (): HttpError => {
    const text = `The body is larger than ${limit} bytes.`
    return new HttpError(413, text, {}, new AuthError(`${text} The option \`limits.body\` raises it.`))
  }
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge()
  if (!request.body) return ''
  const decoder = new TextDecoder()
  let size = 0
  let text = ''
  try {
    const reader = request.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      size += value.byteLength
      if (size > limit) {
        await reader.cancel()
        throw tooLarge()
      }
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    // A client that hangs up, or a body that was consumed before us.
    throw error instanceof HttpError ? error : new HttpError(400, 'Bad request.')
  }
}
