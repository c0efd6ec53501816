/** Real servers and a client that shows what is on the wire: no redirects followed, no headers joined. */
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'

/** An answer as it came. */
export interface Answer {
  status: number
  headers: NodeJS.Dict<string | string[]>
  cookies: string[]
  text: string
  json(): Record<string, unknown> & { user?: { name?: string } }
}
/** A running server. */
export interface TestServer {
  origin: string
  port: number
  server: Server
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1. */
export async function serve(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    server,
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** One request; `target` goes onto the wire as it is. */
export function ask(
  port: number,
  target: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string | Uint8Array } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const req = httpRequest({ host: '127.0.0.1', port, path: target, method, headers, agent: false }, (res) => {
      let text = ''
      res.setEncoding('utf8')
      res.on('data', (chunk: string) => (text += chunk))
      res.on('error', reject)
      res.on('end', () =>
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          cookies: res.headers['set-cookie'] ?? [],
          text,
          json: () => JSON.parse(text) as Record<string, unknown>,
        }),
      )
    })
    req.on('error', reject)
    req.end(body)
  })
}

/** Sends bytes as they are and answers everything that came back until the server closed. */
export function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

/** A browser's jar for one origin: names and values only. */
export class Jar {
  readonly values: Map<string, string> = new Map()

  take({ cookies }: Answer): void {
    for (const cookie of cookies) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      if (/max-age=0/i.test(cookie)) this.values.delete(pair.slice(0, at))
      else this.values.set(pair.slice(0, at), pair.slice(at + 1))
    }
  }

  get header(): string {
    return [...this.values].map(([name, value]) => `${name}=${value}`).join('; ')
  }
}

/** A sign-in by password as a browser does it: CSRF token, then the form, as urlencoded or JSON. Keeps the cookies in `jar`. */
export async function signIn(
  port: number,
  base: string,
  jar: Jar,
  kind: 'form' | 'json' = 'form',
  extra: Record<string, string> = {},
): Promise<Answer> {
  const csrf = await ask(port, `${base}/csrf`, { headers: { cookie: jar.header, ...extra } })
  jar.take(csrf)
  const fields = { csrfToken: String(csrf.json().csrfToken), username: 'ada', password: 'right', callbackUrl: '/after' }
  const answer = await ask(port, `${base}/callback/credentials`, {
    method: 'POST',
    headers: {
      cookie: jar.header,
      'content-type': kind === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
      ...extra,
    },
    body: kind === 'form' ? new URLSearchParams(fields).toString() : JSON.stringify(fields),
  })
  jar.take(answer)
  return answer
}

/** A route of the host whose failure goes to `next`, in Express 4 too. */
export function route<Req, Res>(
  work: (req: Req, res: Res) => Promise<unknown>,
): (req: Req, res: Res, fail: (error: unknown) => void) => void {
  return (req, res, fail) => void work(req, res).catch((error: unknown) => fail(error))
}
