/** A TCP proxy whose server can be replaced or taken away, as by a fail-over or a restart. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A running proxy. */
export interface Switch {
  /** The address of the first server, by way of the proxy. */
  readonly url: string
  /** New connections lead to another server; those that are open stay where they are. */
  lead(target: string): void
  /** Ends all connections and refuses new ones. */
  stop(): Promise<void>
  /** Takes connections again, at the same port. */
  start(): Promise<void>
  close(): Promise<void>
}

export async function startSwitch(target: string): Promise<Switch> {
  let to = new URL(target)
  const sockets = new Set<Socket>()
  const pass = (client: Socket): void => {
    const upstream = connect({ host: to.hostname, port: Number(to.port) })
    const end = (): void => {
      for (const socket of [client, upstream]) {
        socket.destroy()
        sockets.delete(socket)
      }
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', end).on('close', end)
    }
    client.pipe(upstream)
    upstream.pipe(client)
  }
  let server: Server | undefined
  let port = 0
  async function start(): Promise<void> {
    server = createServer(pass).listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as { port: number }).port
  }
  async function stop(): Promise<void> {
    const closing = server
    server = undefined
    if (!closing) return
    const closed = once(closing, 'close')
    closing.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  await start()
  const url = new URL(target)
  url.host = `127.0.0.1:${port}`
  return { url: url.href, lead: (next) => void (to = new URL(next)), stop, start, close: stop }
}
