/** The contract of bindings, third part: the address of the client, by what it is for. */
import { expect, it } from './runner.ts'
import type { BindingSubject } from './binding-options.ts'
import { Client } from './binding-client.ts'

export function addressRule({ start, base, paths, person }: BindingSubject): void {
  it('wrong guesses count for the address of the client, at the routes and in server code, whatever its headers say', async () => {
    // A network may be wrong a hundred times as often as a name at one: two guesses.
    const host = await start({ throttle: { credentials: { max: 0.02, seconds: 600 } } })
    try {
      const [name = ''] = Object.keys(person.wrong)
      // Other names each time: only the address is the same.
      const guess = (n: number): Record<string, string> => ({ ...person.wrong, [name]: `nobody-${n}` })
      const forged = (n: number): Record<string, string> => ({ 'x-forwarded-for': `192.0.2.${n}`, forwarded: `for=192.0.2.${n}` })
      const client = new Client(host.origin, base)
      await client.signIn(person, guess(1), 'form', forged(1))
      await client.post(paths.login, guess(2), { origin: host.origin, ...forged(2) })
      await client.signIn(person, person.right, 'form', forged(3))
      expect(
        (await client.get(`${base}/session`)).text,
        'a third guess from one address was heard: `options` of the seam gives `clientAddress`, and not from headers',
      ).toBe('null')
    } finally {
      await host.close()
    }
  })
}
