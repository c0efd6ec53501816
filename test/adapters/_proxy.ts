/** A TCP proxy before a server that loses answers: the server has done what it was asked, and the connection breaks before the client hears. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A running proxy. */
export interface Proxy {
  /** The address of the server, by way of the proxy. */
  readonly url: string
  /** Answers that were lost. */
  readonly lost: number
  /** The answer to the next message that matches is lost. */
  loseNext(pattern: RegExp): void
  /** The answer to each message that matches is lost with this probability. */
  loseSome(pattern: RegExp, probability: number): void
  close(): Promise<void>
}

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let [lost, next, some]: [number, RegExp | undefined, { pattern: RegExp; probability: number } | undefined] = [0, undefined, undefined]
  // PostgreSQL sends the text of a prepared statement once for each connection, and then its name.
  const texts = new Map<string, string>()
  const named = (message: string): string => {
    for (const [, name, statement] of message.matchAll(/(authkernel_\w+)\0([^\0]+)\0/g))
      if (/[a-z] /.test(statement!)) texts.set(name!, statement!)
    return message + [...message.matchAll(/authkernel_\w+/g)].map(([name]) => texts.get(name) ?? '').join('\n')
  }
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) })
    let losing = false
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
    client.on('data', (chunk) => {
      const text = named(chunk.toString('latin1'))
      if (next?.test(text)) {
        next = undefined
        losing = true
      } else if (some?.pattern.test(text) && Math.random() < some.probability) losing = true
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (!losing) return void client.write(chunk)
      lost++
      end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as { port: number }).port}`
  return {
    url: url.href,
    get lost() {
      return lost
    },
    loseNext: (pattern) => void (next = pattern),
    loseSome: (pattern, probability) => void (some = { pattern, probability }),
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
