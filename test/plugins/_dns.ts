/** A DNS server on loopback that answers TXT questions (RFC 1035), for the resolver of Node. */
import { createSocket } from 'node:dgram'
import { promises as dns } from 'node:dns'

export interface NameServer {
  /** Name in small letters, and its texts. */
  records: Map<string, string[]>
  /** Answers SERVFAIL to everything. */
  breaks(yes?: boolean): void
  asked: string[]
  close(): Promise<void>
}

/** Node asks it until it is closed. */
export async function nameServer(): Promise<NameServer> {
  const records = new Map<string, string[]>()
  const asked: string[] = []
  let broken = false
  const socket = createSocket('udp4')
  socket.on('message', (question, from) => {
    const { name, end } = nameIn(question)
    asked.push(name)
    const texts = records.get(name.toLowerCase())
    const code = broken ? 2 : texts ? 0 : 3
    const head = Buffer.alloc(12)
    question.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8580 | code, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(broken ? 0 : (texts?.length ?? 0), 6)
    const answers = broken ? [] : (texts ?? []).map(answerOf)
    socket.send(Buffer.concat([head, question.subarray(12, end), ...answers]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const before = dns.getServers()
  dns.setServers([`127.0.0.1:${socket.address().port}`])
  return {
    records,
    asked,
    breaks: (yes = true) => void (broken = yes),
    close: () => {
      dns.setServers(before)
      return new Promise((resolve) => socket.close(() => resolve()))
    },
  }
}

function nameIn(question: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = question[at]!; length > 0; length = question[at]!) {
    labels.push(question.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), end: at + 5 }
}

/** One TXT record about the name of the question, its text in pieces of 20. */
function answerOf(text: string): Buffer {
  const pieces = text.match(/.{1,20}/g) ?? ['']
  const data = Buffer.concat(pieces.map((piece) => Buffer.concat([Buffer.from([piece.length]), Buffer.from(piece)])))
  const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
