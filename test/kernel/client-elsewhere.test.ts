/** `authkernel/client` outside of a page: the same client in server rendering and in tests, by `baseURL` and `fetch`. */
import { createAuth } from 'authkernel'
import { createAuthClient, createClient } from 'authkernel/client'
import { clientMethod, clientMethods, definePlugin } from 'authkernel/kernel'
import credentials from 'authkernel/providers/credentials'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Client as Browser } from '../_client.ts'

const baseURL = 'https://app.example'
const notesPlugin = definePlugin({
  name: 'notes',
  setup: (kernel) =>
    clientMethods(kernel, 'notes', {
      list: clientMethod(async (ctx) => [(await ctx.currentSession())?.user?.name ?? 'signed out']),
      add: clientMethod(async (ctx) => ({ by: (await ctx.currentSession())?.user?.name ?? null })),
    }),
})
const makeAuth = (basePath = '/auth') =>
  createAuth({
    secret: 'x'.repeat(43),
    origin: baseURL,
    basePath,
    providers: [credentials({ credentials: { name: {} }, authorize: ({ name }) => (name === 'Ann' ? { id: '1', name } : null) })],
  }).use(notesPlugin)

/** A `fetch` that asks a server in this process, with the cookies of a browser of its own. */
function fetchFrom(auth: ReturnType<typeof makeAuth>) {
  const browser = new Browser(auth, { origin: baseURL })
  return (url: string, { method = 'GET', headers, body }: RequestInit): Promise<Response> =>
    browser.request(method, url, { headers: Object.fromEntries(new Headers(headers)), ...(body != null && { body }) })
}

afterEach(() => vi.unstubAllGlobals())

describe('a client with `baseURL` and `fetch`', () => {
  it('signs in, calls methods, watches and signs out without a page', async () => {
    const auth = makeAuth()
    const client = createAuthClient<typeof auth>({ baseURL, fetch: fetchFrom(auth) })
    expect(await client.getSession()).toBeNull()
    expect(await client.signIn('credentials', { name: 'Bob' })).toMatchObject({ ok: false, error: 'CredentialsSignin' })
    // Nothing goes anywhere: the result says where.
    expect(await client.signIn('credentials', { name: 'Ann', redirectTo: '/account' })).toMatchObject({
      ok: true,
      url: `${baseURL}/account`,
    })
    expect(await client.getSession()).toMatchObject({ user: { name: 'Ann' } })
    expect(await client.notes.list()).toEqual(['Ann'])
    expect(await client.notes.add()).toEqual({ by: 'Ann' })
    const store = client.createSession()
    expect(await store.refresh()).toMatchObject({ status: 'authenticated', session: { user: { name: 'Ann' } } })
    expect(await client.signOut()).toMatchObject({ ok: true, url: `${baseURL}/` })
    expect(await client.getSession()).toBeNull()
  })

  it('knows another path, and two clients know nothing of each other', async () => {
    const auth = makeAuth('/api/auth')
    const ann = createClient({ baseURL, basePath: '/api/auth/', fetch: fetchFrom(auth) })
    const other = createClient({ baseURL, basePath: '/api/auth', fetch: fetchFrom(auth) })
    await ann.signIn('credentials', { name: 'Ann' })
    expect([(await ann.getSession())?.user?.name, await other.getSession()]).toEqual(['Ann', null])
  })

  it('opens no channel, which the threads of a server would share', async () => {
    const opened = vi.fn()
    vi.stubGlobal('BroadcastChannel', opened)
    const auth = makeAuth()
    const client = createClient({ baseURL, fetch: fetchFrom(auth) })
    await client.signIn('credentials', { name: 'Ann', redirect: false })
    await client.signOut()
    expect(opened).not.toHaveBeenCalled()
  })

  it('answers nothing for the sign-in page, which only a browser can go to', async () => {
    expect(await createClient({ baseURL, fetch: fetchFrom(makeAuth()) }).signIn()).toBeUndefined()
  })

  it('sends cookies to the origin of `baseURL`, whatever that of the page is', async () => {
    const sent: RequestInit[] = []
    const fetch = async (_url: string, init: RequestInit) => (sent.push(init), Response.json(null))
    vi.stubGlobal('location', new URL('https://app.example/home'))
    await createClient({ baseURL, fetch }).getSession()
    await createClient({ baseURL: 'https://auth.app.example', fetch }).getSession()
    expect(sent.map(({ credentials }) => credentials)).toEqual(['include', 'include'])
  })
})

describe('a client that cannot know its server', () => {
  it('sends nothing', async () => {
    await expect(createClient().getSession()).rejects.toThrow(TypeError)
  })
})
