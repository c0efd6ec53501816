/** What every function of a binding says to an argument that is none: a rejection that tells what to give, and never one that cannot be caught. */
import { createAuth } from 'authkernel'
import { astroBinding } from 'authkernel/bindings/astro'
import { cloudflareBinding } from 'authkernel/bindings/cloudflare'
import { elysiaBinding } from 'authkernel/bindings/elysia'
import { expressBinding } from 'authkernel/bindings/express'
import { fastifyBinding } from 'authkernel/bindings/fastify'
import { fetchBinding } from 'authkernel/bindings/fetch'
import { h3Binding } from 'authkernel/bindings/h3'
import { honoBinding } from 'authkernel/bindings/hono'
import { koaBinding } from 'authkernel/bindings/koa'
import { lambdaBinding } from 'authkernel/bindings/lambda'
import { nestBinding } from 'authkernel/bindings/nest'
import { netlifyBinding } from 'authkernel/bindings/netlify'
import { nextBinding } from 'authkernel/bindings/next'
import { nuxtBinding } from 'authkernel/bindings/nuxt'
import { nodeBinding } from 'authkernel/bindings/node'
import { qwikBinding } from 'authkernel/bindings/qwik'
import { orpcBinding } from 'authkernel/bindings/orpc'
import { reactRouterBinding } from 'authkernel/bindings/react-router'
import { solidStartBinding } from 'authkernel/bindings/solid-start'
import { sveltekitBinding } from 'authkernel/bindings/sveltekit'
import { trpcBinding } from 'authkernel/bindings/trpc'
import { vercelBinding } from 'authkernel/bindings/vercel'
import { bindingConfig } from 'authkernel/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

vi.mock('@builder.io/qwik', () => ({ implicit$FirstArg: () => () => {}, inlinedQrl: () => {} }))
vi.mock('@builder.io/qwik-city', () => ({ globalActionQrl: () => {}, routeLoaderQrl: () => {} }))

const orphans: unknown[] = []
const keep = (reason: unknown): void => void orphans.push(reason)
beforeEach(() => void process.on('unhandledRejection', keep))
afterEach(() => void process.off('unhandledRejection', keep))

const auth = createAuth(bindingConfig())
  .use(expressBinding())
  .use(fastifyBinding())
  .use(fetchBinding())
  .use(h3Binding())
  .use(honoBinding())
  .use(koaBinding())
  .use(nextBinding())
  .use(nodeBinding())
  .use(nuxtBinding())
  .use(qwikBinding())
  .use(solidStartBinding())
  .use(sveltekitBinding())
  .use(astroBinding())
  .use(cloudflareBinding())
  .use(elysiaBinding())
  .use(lambdaBinding())
  .use(nestBinding())
  .use(netlifyBinding())
  .use(orpcBinding())
  .use(trpcBinding())
  .use(reactRouterBinding())
  .use(vercelBinding())

type Call = (...args: readonly unknown[]) => unknown
/** The functions of each that take a request, an event or a context. */
const calls: Record<string, [say: string, methods: Record<string, unknown>]> = {
  astro: ['auth.astro.session(Astro)', pick(auth.astro, 'session', 'requireSession', 'signIn', 'signOut')],
  cloudflare: ['auth.cloudflare.session(request)', pick(auth.cloudflare, 'session', 'signIn', 'signOut', 'handler', 'matches')],
  elysia: ['auth.elysia.session(context)', pick(auth.elysia, 'session', 'resolve', 'signIn', 'signOut', 'handler')],
  lambda: ['auth.lambda.session(event)', pick(auth.lambda, 'session', 'signIn', 'signOut', 'handler', 'route')],
  nest: ['auth.nest.session(context)', pick(auth.nest, 'session', 'signIn', 'signOut')],
  netlify: ['auth.netlify.session(request)', pick(auth.netlify, 'session', 'signIn', 'signOut', 'handler', 'matches')],
  orpc: ['auth.orpc.createContext(', pick(auth.orpc, 'createContext')],
  trpc: ['auth.trpc.createContext(', pick(auth.trpc, 'createContext')],
  'react-router': [
    'auth.reactRouter.session(args)',
    pick(auth.reactRouter, 'session', 'requireSession', 'signIn', 'signOut', 'loader', 'action'),
  ],
  vercel: ['auth.vercel.session(request)', pick(auth.vercel, 'session', 'signIn', 'signOut', 'handler', 'matches')],
  express: ['auth.express.session(req)', pick(auth.express, 'session', 'user', 'signIn', 'signOut', 'request')],
  fastify: ['auth.fastify.session(request, reply)', pick(auth.fastify, 'session', 'signIn', 'signOut', 'request')],
  fetch: ['auth.fetch.session(request)', pick(auth.fetch, 'session', 'signIn', 'signOut', 'handler', 'matches')],
  h3: ['auth.h3.session(event)', pick(auth.h3, 'session', 'signIn', 'signOut', 'handler', 'middleware')],
  hono: ['auth.hono.session(c)', pick(auth.hono, 'session', 'signIn', 'signOut', 'handler')],
  koa: ['auth.koa.session(ctx)', pick(auth.koa, 'session', 'user', 'signIn', 'signOut', 'handler', 'request')],
  node: ['auth.node.session(req, res)', pick(auth.node, 'session', 'requireSession', 'signIn', 'signOut', 'handler', 'request')],
  nuxt: ['auth.nuxt.session(event)', pick(auth.nuxt, 'session', 'requireSession', 'signIn', 'signOut', 'handler')],
  qwik: ['auth.qwik.session(event)', pick(auth.qwik, 'session', 'requireSession', 'signIn', 'signOut', 'onRequest')],
  'solid-start': ['getRequestEvent()', pick(auth.solidStart, 'session', 'requireSession', 'signIn', 'signOut', 'GET', 'POST')],
  sveltekit: ['auth.sveltekit.session(event)', pick(auth.sveltekit, 'session', 'requireSession', 'signIn', 'signOut')],
}

it.each(Object.entries(calls))('%s', async (_name, [say, methods]) => {
  for (const [method, call] of Object.entries(methods)) {
    for (const given of [undefined, null, 'text', {}]) {
      const attempt = async (): Promise<unknown> => (call as Call)(given)
      await expect(attempt(), `${method}(${String(given)})`).rejects.toThrow(say)
    }
  }
  await new Promise((resolve) => setImmediate(resolve))
  expect(orphans).toEqual([])
})

it('next: `auth` says what it takes', async () => {
  for (const given of [null, 'text', {}, [{ headers: {} }]]) {
    await expect((auth.next.auth as unknown as (...args: unknown[]) => Promise<unknown>)(...[given].flat())).rejects.toThrow(
      /next binding: give/,
    )
  }
})

function pick<T extends object, K extends keyof T>(from: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>
}
