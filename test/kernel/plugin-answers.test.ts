/** What plugins get wrong names the plugin. */
import { expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { baseConfig, Client } from '../_setup.ts'

const use = (setup: (kernel: { provide: Function; route: Function }) => void) => {
  const options = baseConfig()
  return { auth: createAuth(options).use({ name: 'probe', setup: (kernel) => setup(kernel as never) }), errors: options.logger.errors }
}

it.each([
  ['throws', () => JSON.parse('{'), /Plugin "probe" could not make its service "pages": .*JSON/],
  ['answers null', () => null, /Plugin "probe" made its service "pages" of null/],
  ['answers a promise', async () => ({}), /Plugin "probe" made its service "pages" of a promise/],
])('a factory of a service that %s', async (_what, factory, message) => {
  await expect(use((kernel) => kernel.provide('pages', factory)).auth.ready()).rejects.toThrow(message)
})

it.each([undefined, null, 'text'])('a handler of a route that answers %j', async (answer) => {
  for (const handler of [() => answer, async () => answer]) {
    const { auth, errors } = use((kernel) => kernel.route({ method: 'GET', path: '/probe', handler }))
    expect((await new Client(auth).get('/probe')).status).toBe(302)
    expect(errors.map(({ message }) => message).join()).toMatch(/The route GET \/probe of plugin "probe" answered (undefined|null|string)/)
  }
})

it('a handler of a route that throws: the log names the plugin and the route', async () => {
  const fault = (): never => {
    throw new TypeError('it broke')
  }
  for (const handler of [fault, async () => fault()]) {
    const { auth, errors } = use((kernel) => kernel.route({ method: 'GET', path: '/probe', handler }))
    expect(await (await new Client(auth).get('/probe')).text()).not.toContain('it broke')
    expect(errors.map(({ message }) => message)).toEqual(['The route GET /probe of plugin "probe" threw: it broke'])
    expect((errors[0] as { cause?: { err?: unknown } }).cause?.err).toBeInstanceOf(TypeError)
  }
})

it('a secret that is missing names the file that Node has to read', async () => {
  await expect(createAuth(baseConfig({ secret: undefined })).ready()).rejects.toThrow('node --env-file=.env.local app.js')
})
