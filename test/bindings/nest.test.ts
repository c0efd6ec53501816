/** NestJS itself, on Express and with a gateway of `ws`. Decorators are called as functions: the tests are not compiled with Nest's settings. */
import 'reflect-metadata'
import { type AuthConfig, createAuth } from 'authkernel'
import { NestAuth, type NestApi, nestBinding } from 'authkernel/bindings/nest'
import type { Plugin } from 'authkernel/kernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { bindingConfig, signedIn, testBinding } from 'authkernel/testing'
import { Controller, createParamDecorator, type ExecutionContext, Get, Module, Post, Req, Res, UseGuards } from '@nestjs/common'
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js'
import { NestFactory } from '@nestjs/core'
import { WsAdapter } from '@nestjs/platform-ws'
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets'
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openSocket, say } from './_live-client.ts'

/** What `@Get('page')` above a method does. */
function decorate(
  target: { prototype: object },
  name: string,
  decorators: readonly MethodDecorator[],
  parameters: readonly ParameterDecorator[] = [],
): void {
  const descriptor = Object.getOwnPropertyDescriptor(target.prototype, name)!
  for (const each of decorators) each(target.prototype, name, descriptor)
  parameters.forEach((each, index) => each(target.prototype, name, index))
}

async function start(auth: NestApi): Promise<{ origin: string; close(): Promise<void> }> {
  const CurrentSession = createParamDecorator((_: unknown, context: ExecutionContext) => auth.session(context))
  class App {
    page(session: unknown) {
      return JSON.stringify(session)
    }
    guarded(session: unknown) {
      return JSON.stringify(session)
    }
    login(req: ExpressRequest, res: ExpressResponse) {
      return auth.signIn({ req, res }, 'credentials', { fields: req.body as Record<string, string>, redirectTo: '/in' })
    }
    logout(req: ExpressRequest, res: ExpressResponse) {
      return auth.signOut({ req, res }, { redirectTo: '/out' })
    }
  }
  Controller()(App)
  decorate(App, 'page', [Get('page')], [CurrentSession()])
  decorate(App, 'guarded', [Get('guarded'), UseGuards(auth.guard())], [CurrentSession()])
  decorate(App, 'login', [Post('login')], [Req(), Res()])
  decorate(App, 'logout', [Post('logout')], [Req(), Res()])
  class Gateway {
    handleConnection(client: object, request: object) {
      auth.connect(client, request)
    }
    async echo(client: object, text: string) {
      return { event: 'echo', data: text }
    }
  }
  WebSocketGateway({ path: '/socket' })(Gateway)
  decorate(Gateway, 'echo', [SubscribeMessage('echo'), UseGuards(auth.guard())])
  class Root {
    readonly name = 'root'
  }
  Module({ controllers: [App], providers: [Gateway] })(Root)
  const app = await NestFactory.create(Root, { logger: false, abortOnError: false })
  app.use(auth.handler)
  app.useWebSocketAdapter(new WsAdapter(app))
  await app.listen(0, '127.0.0.1')
  const { port } = app.getHttpServer().address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, close: () => app.close() }
}

function apiOf(more?: AuthConfig, plugins: readonly Plugin[] = []): NestApi {
  const auth = createAuth(bindingConfig(more))
  for (const plugin of plugins) auth.use(plugin)
  return auth.use(nestBinding()).nest
}

testBinding({ name: 'nest', rootRoutes: true, start: (more, plugins) => start(apiOf(more, plugins)) })
testBinding({ name: 'nest, options by a function', start: (more) => start(NestAuth(() => bindingConfig(more))) })

it('a gateway reads the session with each message: after sign-out the next one is rejected', async () => {
  const adapter = memoryAdapter()
  const auth = createAuth(bindingConfig({ adapter, session: { strategy: 'database' } })).use(nestBinding())
  const host = await start(auth.nest)
  try {
    const port = Number(new URL(host.origin).port)
    const cookie = await signedIn(auth, { name: 'Ada', email: 'ada@example.com' })
    const { socket } = await openSocket(port, { cookie })
    const message = JSON.stringify({ event: 'echo', data: 'hi' })
    expect(JSON.parse(await say(socket, message))).toEqual({ event: 'echo', data: 'hi' })
    await adapter.deleteSession!(decodeURIComponent(/session-token=([^;]+)/.exec(cookie)![1]!))
    expect(JSON.parse(await say(socket, message))).toMatchObject({ event: 'exception', data: { message: 'Unauthorized' } })
    socket.terminate()
  } finally {
    await host.close()
  }
})

it('a resolver of GraphQL: its context has the request, and the rejection is an error of its own', async () => {
  const auth = createAuth(bindingConfig()).use(nestBinding())
  const contextOf = (headers: object): ExecutionContextHost => {
    const req = { headers: { host: 'app.example', ...headers }, url: '/graphql', method: 'POST', socket: {} }
    const context = new ExecutionContextHost([{}, {}, { req, res: { headersSent: true } }, {}])
    context.setType('graphql')
    return context
  }
  await expect(auth.nest.guard().canActivate(contextOf({ accept: 'text/html' }))).rejects.toMatchObject({
    status: 401,
    message: 'Unauthorized',
  })
  const cookie = await signedIn(auth, { id: 'ada', name: 'Ada' }, { origin: 'http://app.example' })
  expect(await auth.nest.guard().canActivate(contextOf({ cookie }))).toBe(true)
  expect(await auth.nest.session(contextOf({ cookie }))).toMatchObject({ user: { name: 'Ada' } })
})

it('a WebSocket whose request is not known is an error that says what to call', async () => {
  const context = new ExecutionContextHost([{}, 'hi'])
  context.setType('ws')
  await expect(apiOf().guard().canActivate(context)).rejects.toThrow('auth.nest.connect(client, request)')
})
