/** A form with a file: multipart, so that the file needs no script. */
import { type Context, HttpError } from 'authkernel/kernel'

export function isMultipart(ctx: Context): boolean {
  return !/^application\/x-www-form-urlencoded/i.test(ctx.request.headers.get('content-type') ?? '')
}

/** Text fields and files by name, files as text. Throws HttpError 400 for another body, and 415 for a file that is no UTF-8. */
export async function readUpload(ctx: Context): Promise<Record<string, string>> {
  const form = await parseForm(ctx.request.headers.get('content-type') ?? '', await ctx.bytes())
  const fields: Record<string, string> = {}
  for (const [name, value] of form) {
    if (name === '__proto__') continue
    fields[name] = typeof value === 'string' ? value : await readText(value)
  }
  return fields
}

async function parseForm(type: string, content: Uint8Array<ArrayBuffer>): Promise<FormData> {
  try {
    return await new Response(content, { headers: { 'content-type': type } }).formData()
  } catch {
    throw new HttpError(400, 'The form is malformed.')
  }
}

async function readText(file: Blob): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch {
    throw new HttpError(415, 'The file is no text in UTF-8.')
  }
}
