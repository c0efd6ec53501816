/**
 * Node's request and response, and the web's. Every Node framework of the bindings goes through here; no other file of
 * `bindings/` names `node:`.
 */
import { badRequest, publicUrl, type Edge } from './edge.ts'
import { HttpError, json, setHostRequest } from 'authkernel/kernel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'

/** A request as Node, Express, Connect and serverless wrappers hand it on. */
export type NodeRequest = IncomingMessage & {
  /** Target before a router took its mount path off. */
  originalUrl?: string
  /** What a body parser left behind. */
  body?: unknown
  /** The unparsed body, where a platform keeps it. */
  rawBody?: unknown
}
/** The response of `node:http` that a Node binding writes to. */
export type NodeResponse = ServerResponse

/** The web response to a Node request, for frameworks to send. Rejects with what `answer` throws. */
export async function answerWeb(
  req: NodeRequest,
  res: NodeResponse | undefined,
  edge: Edge,
  answer: (request: Request) => Promise<Response>,
): Promise<Response> {
  const body = openBody(req)
  res?.once('close', body.close)
  try {
    return await answer(toRequest(req, edge, body))
  } catch (error) {
    if (error instanceof HttpError) return json(error.message, error.status, error.headers)
    throw error
  }
}

/** The request without its body, or with the one given. Throws HttpError 400 for what is no request to this host. */
export function toRequest(req: NodeRequest, edge: Edge = {}, body?: Body): Request {
  const headers = toHeaders(req, body?.parsed ? ofTheWire : [])
  const init: RequestInit & { duplex: 'half' } = { method: req.method ?? 'GET', headers, duplex: 'half' }
  if (body?.content !== undefined) init.body = body.content
  try {
    return setHostRequest(new Request(publicUrl(req, edge), init), req)
  } catch (cause) {
    // TRACE and friends, which the web's Request does not know.
    throw cause instanceof HttpError ? cause : badRequest()
  }
}

/** Writes a web response: several Set-Cookie headers survive, bodies stream, a client that went away ends it. */
export async function sendResponse(res: NodeResponse, response: Response): Promise<void> {
  if (res.headersSent || res.destroyed) return response.body?.cancel()
  res.statusCode = response.status
  for (const [name, value] of response.headers) if (name !== 'set-cookie') res.setHeader(name, value)
  appendCookies(res, response.headers)
  if (response.body && res.req.method !== 'HEAD') return pipeBody(response.body, res)
  res.end()
  await response.body?.cancel()
}

/** Adds the Set-Cookie headers of `headers` to those that are there. */
export function appendCookies(res: NodeResponse, headers: Headers): void {
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) res.appendHeader('set-cookie', cookies)
}

/** A body for frameworks that send Node streams. */
export function toStream(body: ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(body as NodeReadableStream<Uint8Array>)
}

/** Address of the peer. */
export function peerAddress(req: NodeRequest): string | undefined {
  return req.socket.remoteAddress
}

async function pipeBody(body: ReadableStream<Uint8Array>, res: NodeResponse): Promise<void> {
  const reader = body.getReader()
  // Without this the source of an endless stream would run on after the client left.
  const cancelReader = (): void => void reader.cancel().catch(() => {})
  res.once('close', cancelReader)
  try {
    for (let part = await reader.read(); !part.done && !res.destroyed; part = await reader.read()) {
      if (!res.write(part.value)) await waitUntilWritable(res)
    }
    res.end()
  } catch (error) {
    // Half a body must not look like a whole one.
    res.destroy()
    throw error
  } finally {
    res.off('close', cancelReader)
  }
}

function waitUntilWritable(res: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const stopWaiting = (): void => {
      res.off('drain', stopWaiting).off('close', stopWaiting)
      resolve()
    }
    res.on('drain', stopWaiting).on('close', stopWaiting)
  })
}

interface Body {
  content: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined
  /** Made again from what a body parser left: lengths and encodings of the wire no longer hold. */
  parsed: boolean
  /** Lets the connection go on: what was not read is thrown away. */
  close: () => void
}

// What no longer holds for a body that was made anew.
const ofTheWire = ['content-encoding', 'content-length', 'transfer-encoding']

function openBody(req: NodeRequest): Body {
  if (req.method === 'GET' || req.method === 'HEAD') return { content: undefined, parsed: false, close: () => {} }
  if (req.readableDidRead || req.readableEnded) return { content: serializeBody(req), parsed: true, close: () => {} }
  return { ...streamOf(req), parsed: false }
}

// Bytes accepted after the answer, so that a client still sending can read it; more, and the connection is cut.
const lingering = 1_048_576

/** Not `Readable.toWeb`: its cancel destroys the socket, and the client of a 413 would never see the answer. */
function streamOf(req: NodeRequest): Pick<Body, 'content' | 'close'> {
  let rest = -1
  const content = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        req.on('data', (chunk: Uint8Array | string) => {
          const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
          if (rest >= 0) {
            rest -= bytes.byteLength
            if (rest < 0) req.destroy()
            return
          }
          controller.enqueue(bytes)
          req.pause()
        })
        req.pause()
        req.once('end', () => rest < 0 && controller.close())
        req.once('error', (error) => rest < 0 && controller.error(error))
        req.once(
          'close',
          () => rest < 0 && !req.readableEnded && controller.error(new Error('The client went away before its body was complete.')),
        )
      },
      pull() {
        req.resume()
      },
      cancel() {
        rest = lingering
      },
    },
    { highWaterMark: 0 },
  )
  return {
    content,
    close() {
      rest = lingering
      req.resume()
    },
  }
}

function serializeBody(req: NodeRequest): Body['content'] {
  const value = req.rawBody ?? req.body
  // Nitro's presets for Bun, Deno and edges leave buffers and streams of the web.
  if (typeof value === 'string' || value instanceof ReadableStream) return value
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return new Uint8Array(value)
  const type = req.headers['content-type'] ?? ''
  if (value === undefined || value === null) {
    if (Number(req.headers['content-length'] ?? 0) === 0) return undefined
    throw new Error(
      'The request body was read before authkernel and is not in req.body: mount the auth handler first, or a parser that fills req.body.',
    )
  }
  if (type.includes('application/json')) return JSON.stringify(value)
  if (type.includes('application/x-www-form-urlencoded')) return new URLSearchParams([...flattenFields('', value)]).toString()
  return undefined
}

/** Undoes what extended parsers do to `a[b]=c` and repeated keys. */
function* flattenFields(name: string, value: unknown): Generator<[string, string]> {
  if (Array.isArray(value)) for (const item of value) yield* flattenFields(name, item)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* flattenFields(name === '' ? key : `${name}[${key}]`, item)
  } else if (value !== undefined && value !== null) yield [name, String(value)]
}

/** An object where no header comes twice: Node copies it into a Request faster than `Headers`. */
function toHeaders(req: NodeRequest, without: readonly string[]): Record<string, string> | [string, string][] {
  const headers: Record<string, string> = {}
  const repeated: [string, string][] = []
  for (const name of Object.keys(req.headers)) {
    const value = req.headers[name]
    // Pseudo-headers of HTTP/2 are no headers.
    if (value === undefined || name.startsWith(':') || without.includes(name)) continue
    if (Array.isArray(value)) for (const item of value) repeated.push([name, item])
    else headers[name] = value
  }
  return repeated.length === 0 ? headers : [...Object.entries(headers), ...repeated]
}
