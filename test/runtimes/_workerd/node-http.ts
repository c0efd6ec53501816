/**
 * `node:http` inside workerd: the runtime's own servers, on the ports that the process listens on.
 * A test's `fetch` to such a port leaves the worker, and comes back over TCP as a request to it.
 */
import { handleAsNodeRequest } from 'cloudflare:node'
import http from 'node:http'

export * from 'node:http'
export default http

let free: number[] = []
let held: number[] = []

/** Ports for the servers of the next test file. */
export function setPorts(ports: number[]): void {
  free = ports
  held = []
}

/** Answers a request by the server that listens on the port of its URL. */
export function requestOf(request: Request): Promise<Response> {
  return handleAsNodeRequest(Number(new URL(request.url).port), request)
}

export function createServer(...args: Parameters<typeof http.createServer>): http.Server {
  const server = http.createServer(...args)
  const listen = server.listen.bind(server) as (port: number, ...rest: unknown[]) => http.Server
  server.listen = ((asked: number, ...rest: unknown[]) => {
    const port = asked || free.shift()
    if (!port) throw new Error(`More than ${held.length} servers at once: give the worker more sockets.`)
    held.push(port)
    return listen(port, ...rest)
  }) as never
  return server
}
