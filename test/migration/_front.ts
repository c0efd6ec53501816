/** One address for two products: a proxy chooses which of them answers below `/api/auth`. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'

export interface Front {
  origin: string
  /** Who answers below `/api/auth`. */
  answerWith(listener: RequestListener): void
  close(): Promise<void>
}

/** `/` is a page with the script in it. */
export async function startFront(script: string): Promise<Front> {
  let listener: RequestListener = (_req, res) => void res.writeHead(503).end()
  const server = createServer((req, res) => {
    if (req.url?.startsWith('/api/auth')) return listener(req, res)
    const isScript = req.url === '/client.js'
    res.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
    res.end(isScript ? script : '<!doctype html><title>App</title><div id="app"></div><script src="/client.js"></script>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answerWith: (next) => void (listener = next),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A page as its developers bundle it, with the packages that `folder` sees. */
export async function bundlePage(folder: string, source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: folder, loader: 'js' },
    bundle: true,
    write: false,
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}' },
  })
  return outputFiles[0]!.text
}

/** A handler of web requests on a server of Node. */
export function listenWith(origin: string, handler: (request: Request) => Promise<Response>): RequestListener {
  return (req, res) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      const headers = new Headers()
      for (let i = 0; i < req.rawHeaders.length; i += 2) headers.append(req.rawHeaders[i]!, req.rawHeaders[i + 1]!)
      const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
      const response = await handler(new Request(origin + req.url, { method: req.method ?? 'GET', headers, ...body }))
      res.statusCode = response.status
      for (const [name, value] of response.headers) if (name !== 'set-cookie') res.setHeader(name, value)
      res.setHeader('set-cookie', response.headers.getSetCookie())
      res.end(Buffer.from(await response.arrayBuffer()))
    })()
  }
}
