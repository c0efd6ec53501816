/** Sockets for servers that live in a worker: opens them, passes requests on, and does to the answer what the worker says. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { Command } from './_workerd/node-http.ts'

/** Takes `POST /listen`, which answers a port, and `POST /close?port=…`. */
export interface Relay {
  url: string
  close(): Promise<void>
}

/** `worker` is the URL where the worker takes the requests of its servers. */
export async function startRelay(worker: string): Promise<Relay> {
  const servers = new Map<number, Server>()
  const hub = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://hub')
    const order = pathname === '/listen' ? open() : shut(Number(searchParams.get('port')))
    order.then((answer) => response.end(String(answer))).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  const open = async (): Promise<number> => {
    const server = createServer((request, response) => {
      const { port } = server.address() as AddressInfo
      void forward(`${worker}/serve?port=${port}`, Readable.toWeb(request) as ReadableStream, request.method ?? '', response, {
        'x-url': request.url ?? '/',
        'x-headers': JSON.stringify(request.headers),
      })
    })
    const port = await listen(server)
    servers.set(port, server)
    return port
  }
  const shut = async (port: number): Promise<string> => {
    const server = servers.get(port)
    servers.delete(port)
    if (server) await end(server)
    return 'closed'
  }
  const port = await listen(hub)
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      await Promise.all([hub, ...servers.values()].map(end))
    },
  }
}

async function forward(
  url: string,
  stream: ReadableStream,
  method: string,
  response: ServerResponse,
  headers: Record<string, string>,
): Promise<void> {
  const controller = new AbortController()
  response.once('close', () => controller.abort())
  const body = method === 'GET' || method === 'HEAD' ? {} : { body: stream as never, duplex: 'half' }
  try {
    const answer = await fetch(url, { method, headers, signal: controller.signal, ...body })
    if (!answer.body) return
    for await (const line of createInterface({ input: Readable.fromWeb(answer.body as ReadableStream) })) {
      await apply(JSON.parse(line) as Command, response)
    }
  } catch {
    // The client left, or the worker gave the request up because its server never answers: that is what some tests are about.
  }
}

function apply([name, ...values]: Command, response: ServerResponse): Promise<void> | void {
  const bytes = (): Buffer => Buffer.from(String(values[0]), 'base64')
  switch (name) {
    case 'head':
      return void response.writeHead(values[0] as number, values[1] as Record<string, string | string[]>)
    case 'flush':
      return response.flushHeaders()
    case 'write':
      return new Promise((resolve) => response.write(bytes(), () => resolve()))
    case 'end':
      return void response.end(bytes())
    case 'raw':
      return void response.socket?.end(bytes())
    case 'destroy':
      return void response.destroy()
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

async function end(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
