/**
 * `node:http` inside workerd, for the servers that tests start: workerd has none that can break off an answer or send rubbish.
 * The sockets are Node's, in the process that drives the tests (../_relay.ts); what the server does is decided here.
 */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { Readable } from 'node:stream'

/** What happens to the answer, one line of JSON each; bytes are base64. */
export type Command = ['head', number, Record<string, string | string[]>] | ['write' | 'end' | 'raw', string] | ['flush' | 'destroy']

type Chunk = string | Uint8Array
const listeners = new Map<string, RequestListener>()
let hub = ''

/** Where the driving process takes orders. */
export function setHub(url: string): void {
  hub = url
}

export function createServer(listener: RequestListener): Server {
  return new Server(listener)
}

class Server extends EventEmitter {
  readonly #listener: RequestListener
  #port = 0

  constructor(listener: RequestListener) {
    super()
    this.#listener = listener
  }

  listen(port: number, host: string, done?: () => void): this {
    if (port !== 0 || host !== '127.0.0.1') throw new Error('Test servers listen on 127.0.0.1 and port 0.')
    if (done) this.once('listening', done)
    void this.#listen()
    return this
  }

  address(): { address: string; family: string; port: number } {
    return { address: '127.0.0.1', family: 'IPv4', port: this.#port }
  }

  // `close` does it all: the process closes its connections with the server.
  closeAllConnections(): void {}

  close(done?: () => void): this {
    if (done) this.once('close', done)
    void this.#close()
    return this
  }

  async #listen(): Promise<void> {
    const port = await order('/listen')
    this.#port = Number(port)
    listeners.set(port, this.#listener)
    this.emit('listening')
  }

  async #close(): Promise<void> {
    listeners.delete(String(this.#port))
    await order(`/close?port=${this.#port}`)
    this.emit('close')
  }
}

async function order(path: string): Promise<string> {
  const response = await fetch(hub + path, { method: 'POST' })
  return response.text()
}

/** A request to a server of a test, as the process passes it on; the answer is a stream of commands. */
export function serve(request: Request): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const headers = JSON.parse(request.headers.get('x-headers') ?? '{}') as IncomingMessage['headers']
  const incoming = Object.assign(Readable.from(request.body ?? []), {
    url: request.headers.get('x-url') ?? '/',
    method: request.method,
    headers,
  })
  const outgoing = new Outgoing(writable.getWriter())
  const listener = listeners.get(new URL(request.url).searchParams.get('port') ?? '')
  if (listener) listener(incoming as never, outgoing as never)
  else outgoing.destroy()
  return new Response(readable)
}

class Outgoing extends EventEmitter {
  destroyed = false
  headersSent = false
  statusCode = 200
  readonly socket: { end(text: string): void } = { end: (text) => void this.#finish(['raw', base64(text)]) }
  readonly #headers: Record<string, string | string[]> = {}
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>

  constructor(writer: WritableStreamDefaultWriter<Uint8Array>) {
    super()
    this.#writer = writer
    writer.closed.catch(() => this.#gone())
  }

  setHeader(name: string, value: string | string[]): this {
    this.#headers[name.toLowerCase()] = value
    return this
  }

  writeHead(status: number, headers: Record<string, string | string[]> = {}): this {
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value)
    this.statusCode = status
    this.#head()
    return this
  }

  flushHeaders(): void {
    this.#head()
    void this.#send(['flush'])
  }

  write(chunk: Chunk, done?: () => void): boolean {
    this.#head()
    void this.#write(chunk, done)
    const more = (this.#writer.desiredSize ?? 0) > 0
    if (!more) void this.#writer.ready.then(() => this.emit('drain')).catch(() => {})
    return more
  }

  end(chunk: Chunk = ''): this {
    this.#head()
    this.#finish(['end', base64(chunk)])
    return this
  }

  destroy(): this {
    this.#finish(['destroy'])
    return this
  }

  async #write(chunk: Chunk, done?: () => void): Promise<void> {
    await this.#send(['write', base64(chunk)])
    done?.()
  }

  #head(): void {
    if (this.headersSent) return
    this.headersSent = true
    void this.#send(['head', this.statusCode, this.#headers])
  }

  #finish(command: Command): void {
    void this.#send(command).then(() => this.#writer.close().catch(() => {}))
    this.#gone()
  }

  #gone(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }

  #send(command: Command): Promise<void> {
    return this.#writer.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`)).catch(() => this.#gone())
  }
}

function base64(chunk: Chunk): string {
  return Buffer.from(chunk as string).toString('base64')
}
