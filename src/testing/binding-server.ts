/** The contract of bindings, third part: what only a running server shows, the address of the client and paths at the origin's root. */
import type { Plugin } from 'authkernel/kernel'
import { expect, it } from './runner.ts'
import { Client } from './binding-client.ts'
import type { BindingSubject } from './binding-options.ts'

const path = '/.well-known/authkernel-contract'

/** Tells what it knows of itself; scripts of any site may read it. */
const publicPlugin: Plugin = {
  name: 'authkernel-contract',
  setup(kernel) {
    kernel.route({
      method: 'GET',
      path,
      at: 'root',
      public: { maxAge: 60 },
      cors: { origins: 'any' },
      handler: (ctx) => Response.json({ base: ctx.base, url: ctx.url.href }),
    })
  },
}

export function rootRule({ start, base }: BindingSubject): void {
  it("paths at the origin's root that plugins answer work there, and no others do", async () => {
    const host = await start({}, [publicPlugin])
    try {
      const client = new Client(host.origin, base)
      const found = await client.get(path)
      expect(
        [found.status, found.headers.get('cache-control')],
        `${found.summary}\nIs the handler mounted without a path, or the binding's \`root\` at the root of the app?`,
      ).toEqual([200, 'public, max-age=60'])
      expect(JSON.parse(found.text), 'a handler that is mounted below a path gives that path for root routes').toEqual({
        base: host.origin + base,
        url: host.origin + path,
      })
      const head = await client.send(path, { method: 'HEAD' })
      expect([head.status, head.text], head.summary).toEqual([200, ''])
      const preflight = await client.send(path, {
        method: 'OPTIONS',
        headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' },
      })
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')], preflight.summary).toEqual([204, '*'])
      expect((await client.get(`${path}-of-no-route`)).status, "another path below /.well-known/ is the host's").toBe(404)
      expect((await client.get(`${base}/session`)).text).toBe('null')
    } finally {
      await host.close()
    }
  })
}

export function addressRule({ start, base, paths, person }: BindingSubject): void {
  it('wrong guesses count for the address of the client, at the routes and in server code, whatever its headers say', async () => {
    // A network may be wrong a hundred times as often as a name at one: two guesses.
    const host = await start({ throttle: { credentials: { max: 0.02, seconds: 600 } } })
    try {
      const [name = ''] = Object.keys(person.wrong)
      // Other names each time: only the address is the same.
      const guess = (n: number): Record<string, string> => ({ ...person.wrong, [name]: `unknown-${n}` })
      const forgeAddress = (n: number): Record<string, string> => ({ 'x-forwarded-for': `192.0.2.${n}`, forwarded: `for=192.0.2.${n}` })
      const client = new Client(host.origin, base)
      await client.signIn(person, guess(1), 'form', forgeAddress(1))
      await client.post(paths.login, guess(2), { origin: host.origin, ...forgeAddress(2) })
      await client.signIn(person, person.right, 'form', forgeAddress(3))
      expect(
        (await client.get(`${base}/session`)).text,
        'a third guess from one address was heard: `options` of the seam gives `clientAddress`, and not from headers',
      ).toBe('null')
    } finally {
      await host.close()
    }
  })
}
