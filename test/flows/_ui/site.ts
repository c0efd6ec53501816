/** An app whose pages are components of a UI framework: rendered on the server where that can be done, built by Vite for the browser. */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createAuth, type Session } from 'authkernel'
import { aliases } from '../../../scripts/aliases.ts'
import { password } from '../_pages.ts'

/** The Vite that vitest runs on. */
interface Vite {
  build(config: object): Promise<{ output: readonly { fileName: string; code?: string }[] }>
}
/** Markup of the app for a session, as a server renders it. */
export type Render = (session: Session | null) => Promise<string> | string

const folder = fileURLToPath(new URL('.', import.meta.url))
const { build } = (await import(createRequire(createRequire(import.meta.url).resolve('vitest/package.json')).resolve('vite'))) as Vite

/** A production build of one of this folder's apps. */
export async function bundle(app: string, ssr: boolean, plugins: readonly object[]): Promise<string> {
  const { output } = await build({
    configFile: false,
    logLevel: 'error',
    root: folder,
    plugins,
    resolve: {
      alias: [...aliases, { find: /^authkernel\/svelte\/(.+\.svelte)$/, replacement: `${folder}../../../src/svelte/$1` }],
    },
    define: {
      'process.env.NODE_ENV': '"production"',
      __VUE_OPTIONS_API__: 'false',
      __VUE_PROD_DEVTOOLS__: 'false',
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'true',
    },
    // Tests run in development, and the build is one of production.
    oxc: { jsx: { runtime: 'automatic', development: false } },
    ssr: { noExternal: true },
    build: {
      write: false,
      ssr,
      minify: !ssr,
      target: 'es2022',
      rollupOptions: { input: folder + app, output: { format: 'es', codeSplitting: false } },
    },
  })
  return output.find(({ code }) => code !== undefined)?.code ?? ''
}

export interface UiSite {
  url: string
  /** Requests for the session so far. */
  reads(): number
  close(): Promise<void>
}

/** The app at `/` and every other path; `?ssr` gives it the session that the server knows, and what `render` makes of it. */
export async function startUi(
  app: string,
  { render, plugins = [] }: { render?: string; plugins?: readonly object[] } = {},
): Promise<UiSite> {
  const script = await bundle(app, false, plugins)
  const server = render === undefined ? undefined : await bundle(render, true, plugins)
  const rendered =
    server === undefined
      ? undefined
      : ((await import(`data:text/javascript;base64,${Buffer.from(server).toString('base64')}`)) as { render: Render })
  const auth = createAuth({
    secret: 'a secret of more than thirty-two characters',
    trustHost: true,
    env: false,
    logger: { error: () => {}, warn: () => {}, debug: () => {} },
    providers: [password],
  })
  let reads = 0
  const http = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const url = new URL(`http://${request.headers.host}${request.url}`)
      const sent = new Request(url, {
        method: request.method ?? 'GET',
        headers: request.headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      })
      if (url.pathname === '/auth/session') reads++
      const answer = url.pathname.startsWith('/auth/') ? await auth.handler(sent) : await page(url, sent)
      for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value)
      response.setHeader('set-cookie', answer.headers.getSetCookie())
      response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()))
    })()
  })

  async function page(url: URL, request: Request): Promise<Response> {
    if (url.pathname === '/app.js') return new Response(script, { headers: { 'content-type': 'text/javascript' } })
    const session = await auth.session(request)
    // What a server action does: it signs out, and answers what it rendered again.
    if (url.pathname === '/action') {
      const { csrfToken } = (await (await auth.handler(new Request(`${url.origin}/auth/csrf`))).json()) as { csrfToken: string }
      const body = new URLSearchParams({ csrfToken })
      const headers = { cookie: request.headers.get('cookie') ?? '', origin: url.origin }
      const out = await auth.handler(new Request(`${url.origin}/auth/signout`, { method: 'POST', body, headers }))
      const answer = new Response('null', { headers: { 'content-type': 'application/json' } })
      for (const cookie of out.headers.getSetCookie()) answer.headers.append('set-cookie', cookie)
      return answer
    }
    const known = url.searchParams.has('ssr')
    const markup = known && rendered ? await rendered.render(session) : ''
    const state = known ? JSON.stringify(session).replaceAll('<', '\\u003c') : 'undefined'
    const html = `<!doctype html><html lang=en><title>app</title><style>input,button,summary,a{min-width:24px;min-height:24px}</style><div id="app">${markup}</div><script>globalThis.shown=[];globalThis.rendered=${state}</script><script type="module" src="/app.js"></script>`
    return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  }

  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  return {
    url: `http://localhost:${port}`,
    reads: () => reads,
    close() {
      http.closeAllConnections()
      return new Promise((resolve) => http.close(() => resolve()))
    },
  }
}
