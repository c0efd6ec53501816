/** Words that a registration may use: a misspelt protection would be none. */
import { expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { baseConfig, Client } from '../_setup.ts'

const withRoute = (route: object) =>
  createAuth(baseConfig()).use({
    name: 'probe',
    setup: (kernel) => kernel.route({ method: 'POST', path: '/probe', handler: () => new Response('done'), ...route } as never),
  })

it.each([
  [{ csrf: 'tokn' }, /route POST \/probe of plugin "probe" has `csrf: "tokn"`\. Did you mean "token"\? Known: .*"crossSite"/],
  [{ csrf: false }, /`csrf: false`\. Did you mean "crossSite"\?/],
  [{ csrf: true }, /`csrf: true`/],
  [{ csrf: null }, /`csrf: null`/],
  [{ at: 'roott' }, /`at: "roott"`\. Did you mean "root"\?/],
  [{ flow: 'signin' }, /`flow: "signin"`\. Did you mean "signIn"\?/],
  [{ crsf: 'bearer' }, /unknown member `crsf`\. Did you mean "csrf"\?/],
  [{ body: { types: ['jsn'] } }, /body type "jsn"/],
  [{ handler: undefined }, /no function `handler`/],
])('of a route: %j is refused at start, and nothing runs', async (route, message) => {
  const auth = withRoute(route)
  await expect(auth.ready()).rejects.toThrow(message)
  const response = await new Client(auth).send('/probe', { method: 'POST', headers: { origin: 'https://evil.example' } })
  expect(response.ok).toBe(false)
  expect(await response.text()).not.toContain('done')
})

it.each(['token', 'origin', 'crossSite', 'bearer', undefined])('of a route: csrf %j is known', async (csrf) => {
  await withRoute({ csrf }).ready()
})

it('of a hook and of a provider type', async () => {
  const use = (setup: (kernel: never) => void) => createAuth(baseConfig()).use({ name: 'probe', setup: (kernel) => setup(kernel as never) })
  const hook = use((kernel: { declareHook: Function }) => kernel.declareHook('paint', 'gaurd'))
  await expect(hook.ready()).rejects.toThrow(/hook "paint" of plugin "probe" has the kind "gaurd"/)
  const flow = { callback: { POST: 'crosssite' }, finish: () => Promise.reject(new Error('no')) }
  const type = use((kernel: { providerType: Function }) => kernel.providerType('probe', flow))
  await expect(type.ready()).rejects.toThrow(
    /provider type "probe" of plugin "probe" has the wrong `callback`: GET may be false, POST "token"/,
  )
  await expect(createAuth(baseConfig({ sessionOnError: 'nul' as never })).ready()).rejects.toThrow(
    '`sessionOnError` must be "throw" or "null"',
  )
})

it.each(['token', 'csrf', 'crossSite', false, undefined])('of a provider type: callback POST %j is known', async (POST) => {
  const flow = { callback: { POST }, finish: () => Promise.reject(new Error('no')) }
  await createAuth(baseConfig())
    .use({ name: 'probe', setup: (kernel) => kernel.providerType('probe' as never, flow as never) })
    .ready()
})
