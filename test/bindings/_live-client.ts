/** Clients of connections that stay open, which say when and how they ended. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

/** How a connection ended, and after how many milliseconds. */
export interface Ended {
  how: string | number
  after(since: number): number
}

/** A WebSocket that is open. Rejects with the status of a rejection. */
export async function openSocket(port: number, headers: Record<string, string>): Promise<{ socket: WebSocket; ended: Promise<Ended> }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, { headers })
  const ended = new Promise<Ended>((resolve) => {
    socket.once('close', (how: number) => {
      const at = performance.now()
      resolve({ how, after: (since) => at - since })
    })
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('unexpected-response', (_req, res) => reject(new Error(`status ${res.statusCode}`)))
    socket.once('error', reject)
  })
  return { socket, ended }
}

/** Says something, and gives what comes back. */
export async function say(socket: WebSocket, text: string): Promise<string> {
  const answer = once(socket, 'message')
  socket.send(text)
  return String((await answer)[0])
}

/** A stream of events: its first chunk, and its last one with the time. */
export async function openEvents(port: number, headers: Record<string, string>): Promise<{ first: string; ended: Promise<Ended> }> {
  const response = await fetch(`http://127.0.0.1:${port}/events`, { headers })
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const first = String((await reader.read()).value)
  const readOn = async (): Promise<Ended> => {
    let how = ''
    for (let part = await reader.read(); !part.done; part = await reader.read()) how += part.value
    const at = performance.now()
    return { how, after: (since) => at - since }
  }
  return { first, ended: readOn() }
}
