/** React Router's own request handler over a server build made by hand: documents, the data of pages and resource routes. */
import { type AuthConfig, createAuth } from 'authkernel'
import { ReactRouterAuth, type ReactRouterApi, reactRouterBinding } from 'authkernel/bindings/react-router'
import type { Plugin } from 'authkernel/kernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import {
  type ActionFunctionArgs,
  createContext,
  createRequestHandler,
  type LoaderFunctionArgs,
  RouterContextProvider,
  type ServerBuild,
} from 'react-router'
import { expect, it } from 'vitest'
import { formOf, serveWeb } from './_web.ts'

const peerContext = createContext<string>()
type Args = LoaderFunctionArgs | ActionFunctionArgs

/** What `react-router build` writes, without its files for browsers. */
function buildOf(auth: ReactRouterApi): ServerBuild {
  const route = (id: string, path: string, module: object, parentId?: string) => ({ id, path, parentId, module: module as never })
  const routes = [
    { ...route('root', '', { default: () => null, middleware: [auth.middleware] }) },
    route('auth', 'auth/*', { loader: auth.loader, action: auth.action }, 'root'),
    route('well-known', '.well-known/*', { loader: auth.loader, action: auth.action }, 'root'),
    route('page', 'page', { loader: async (args: Args) => Response.json(await auth.session(args)) }, 'root'),
    route('guarded', 'guarded', { loader: async (args: Args) => Response.json(await auth.requireSession(args)) }, 'root'),
    route(
      'inside',
      'inside',
      { loader: async (args: Args) => ({ name: (await auth.requireSession(args)).user?.name }), default: () => null },
      'root',
    ),
    route(
      'login',
      'login',
      { action: async (args: Args) => auth.signIn(args, 'credentials', { fields: await formOf(args.request), redirectTo: '/in' }) },
      'root',
    ),
    route('logout', 'logout', { action: (args: Args) => auth.signOut(args, { redirectTo: '/out' }) }, 'root'),
  ]
  return {
    entry: {
      module: {
        handleError: () => {},
        default: (_request: Request, status: number, headers: Headers) => new Response('document', { status, headers }),
      },
    },
    routes: Object.fromEntries(routes.map((each) => [each.id, each])),
    assets: { entry: { module: '', imports: [] }, routes: {}, url: '', version: '1' },
    publicPath: '/',
    assetsBuildDirectory: '',
    future: { v8_middleware: true },
    ssr: true,
    isSpaMode: false,
    prerender: [],
    routeDiscovery: { mode: 'initial', manifestPath: '/__manifest' },
  } as unknown as ServerBuild
}

function apiOf(more?: AuthConfig, plugins: readonly Plugin[] = []): ReactRouterApi {
  const auth = createAuth(bindingConfig(more))
  for (const plugin of plugins) auth.use(plugin)
  const clientAddress = ({ context }: { context?: unknown }) => (context as RouterContextProvider).get(peerContext)
  return auth.use(reactRouterBinding({ clientAddress })).reactRouter
}

function handlerOf(auth: ReactRouterApi): (request: Request, peer?: string) => Promise<Response> {
  const handle = createRequestHandler(buildOf(auth), 'production')
  return (request, peer = '127.0.0.1') => handle(request, new RouterContextProvider(new Map([[peerContext, peer]])) as never)
}

testBinding({ name: 'react-router', rootRoutes: true, start: (more, plugins) => serveWeb(handlerOf(apiOf(more, plugins))) })
testBinding({
  name: 'react-router, options by a function of the arguments',
  address: 'unknown',
  start: (more) => serveWeb(handlerOf(ReactRouterAuth(() => bindingConfig(more)))),
})

it('the router of the browser is sent to the sign-in page as a document, and back to the page it asked the data of', async () => {
  const handle = handlerOf(apiOf())
  const answer = await handle(
    new Request('http://app.example/inside.data?a=1', { headers: { accept: '*/*', 'sec-fetch-site': 'same-origin' } }),
  )
  const text = await answer.text()
  expect(answer.status).toBe(202)
  // Turbo-stream: the redirect, and that it is to be loaded as a document.
  expect(text).toContain(`/auth/signin?callbackUrl=${encodeURIComponent('http://app.example/inside?a=1')}`)
  expect(text).toContain('"reload",true')
  const program = await handle(new Request('http://app.example/guarded', { headers: { accept: '*/*' } }))
  expect([program.status, await program.json()]).toEqual([401, { error: 'Unauthorized' }])
})

it('without middleware the session is read and not extended', async () => {
  const auth = ReactRouterAuth(bindingConfig({ session: { updateAge: 0 } }))
  const build = buildOf(auth)
  Object.assign(build, { future: {} })
  Object.assign(build.routes['root']!.module, { middleware: undefined })
  const handle = createRequestHandler(build, 'production')
  const page = await handle(new Request('http://app.example/page'))
  expect([await page.json(), page.headers.getSetCookie()]).toEqual([null, []])
})
