/** An app with NextAuth 4, and its client. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../_sources.ts'
import { bundlePage } from './_front.ts'

/** Folder with the lock file of NextAuth 4. */
export const folder: string = join(root, 'test/migration/next-auth-4')

/** Packages of the folder; installed by the first test that needs them. */
export function requireFrom(name: string): unknown {
  if (!existsSync(join(folder, 'node_modules')))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'inherit' })
  return createRequire(join(folder, 'package.json'))(name)
}

type PagesHandler = (req: IncomingMessage, res: ServerResponse, options: object) => Promise<unknown>

/** NextAuth 4 as an API route of the Pages Router: the request has what Next's own server puts on it. */
export function nextAuthApp(options: object): RequestListener {
  const { default: NextAuth } = requireFrom('next-auth') as { default: PagesHandler }
  return (req, res) => {
    void readText(req).then(async (text) => {
      const { pathname, searchParams } = new URL(req.url ?? '/', 'http://localhost')
      const type = req.headers['content-type'] ?? ''
      const body: unknown =
        text === '' ? undefined : type.includes('json') ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text))
      const nextauth = pathname.split('/').slice(3)
      const more = {
        status: (status: number) => ((res.statusCode = status), res),
        json: (value: unknown) => res.setHeader('Content-Type', 'application/json').end(JSON.stringify(value)),
        send: (value: unknown) => res.end(typeof value === 'object' ? JSON.stringify(value) : value),
      }
      const cookies = Object.fromEntries(
        (req.headers.cookie ?? '')
          .split('; ')
          .filter((pair) => pair !== '')
          .map((pair) => [pair.slice(0, pair.indexOf('=')), decodeURIComponent(pair.slice(pair.indexOf('=') + 1))]),
      )
      await NextAuth(
        Object.assign(req, { query: { ...Object.fromEntries(searchParams), nextauth }, cookies, body }),
        Object.assign(res, more),
        options,
      )
    })
  }
}

/** `next-auth/react` of version 4 as its users bundle it, with a page that shows who is signed in. */
export async function bundleClient(): Promise<string> {
  requireFrom('next-auth')
  return bundlePage(
    folder,
    `
    import * as client from 'next-auth/react'
    import { createElement } from 'react'
    import { createRoot } from 'react-dom/client'
    function Who() {
      const { data, status, update } = client.useSession()
      window.update = update
      return createElement('p', { id: 'who' }, status === 'authenticated' ? data.user.name + ', ' + (data.role ?? 'no role') : status)
    }
    window.client = client
    createRoot(document.getElementById('app')).render(createElement(client.SessionProvider, null, createElement(Who)))
  `,
  )
}

async function readText(req: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of req) text += String(chunk)
  return text
}
