/** A TCP gate before a server: open, away (connections are refused and cut) or stalled (connections are taken, and nothing passes). */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A running gate. */
export interface Gate {
  /** The address of the server, by way of the gate. */
  readonly url: string
  open(): Promise<void>
  away(): Promise<void>
  stall(): Promise<void>
  close(): Promise<void>
}

export async function startGate(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<[Socket, Socket]>()
  let state: 'open' | 'stalled' = 'open'
  let own = 0
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
    pairs.clear()
  }
  const accept = (client: Socket): void => {
    const pair: [Socket, Socket] = [client, connect({ host: hostname, port: Number(port) })]
    pairs.add(pair)
    const end = (): void => {
      for (const socket of pair) socket.destroy()
      pairs.delete(pair)
    }
    for (const [at, socket] of pair.entries()) {
      socket.setNoDelay(true)
      socket.on('error', end).on('close', end)
      socket.on('data', (chunk) => void (state === 'open' && pair[1 - at]!.write(chunk)))
    }
  }
  let server: Server | undefined
  const listen = async (): Promise<void> => {
    if (server) return
    server = createServer(accept).listen(own, '127.0.0.1')
    await once(server, 'listening')
    own = (server.address() as { port: number }).port
  }
  const leave = async (): Promise<void> => {
    const [former] = [server]
    server = undefined
    former?.close()
    cut()
    if (former) await once(former, 'close')
  }
  await listen()
  const url = new URL(target)
  url.host = `127.0.0.1:${own}`
  return {
    url: url.href,
    async open() {
      // What was taken while nothing passed has lost bytes.
      if (state === 'stalled') cut()
      state = 'open'
      await listen()
    },
    away: leave,
    async stall() {
      state = 'stalled'
      await listen()
    },
    close: leave,
  }
}
