/** A client that knows its server: the methods that plugins bring are typed by the type of `auth`, and are found by their names at run time. */
import type { ClientMethodsOf, SessionOf } from 'authkernel'
import { type Client, type ClientOptions, createClientFunctions } from './client.ts'
import { AuthClientError, createProtocol } from './protocol.ts'

/** The functions of `createClient` with the session of `A` and, by namespace, the methods of the plugins of `A`. */
export type AuthClient<A> = Client<SessionOf<A>> & ClientMethodsOf<A>

// Names by which `clientMethods` of the server makes a GET route.
const reads = /^(?:get|list|is|has)(?![a-z])/

/**
 * `createAuthClient<typeof auth>()`, with `import type { auth }` of the server: nothing of it gets into the bundle.
 * `client.twoFactor.verify(input)` is `POST <basePath>/two-factor/verify`. Methods reject with AuthClientError; those that change something tell all
 * watched sessions to read again.
 */
export function createAuthClient<A = unknown>(options: ClientOptions = {}): AuthClient<A> {
  const protocol = createProtocol(options)
  const client = createClientFunctions(protocol)
  const method =
    (namespace: string, name: string) =>
    async (input?: unknown): Promise<unknown> => {
      // The one method that is a ceremony of the browser and no single request.
      const isCeremony = namespace === 'passkeys' && name === 'add'
      const result = isCeremony
        ? await (await import('./passkey.ts')).addPasskey(protocol, AuthClientError, input as object | undefined)
        : await protocol.call(`/${toKebab(namespace)}/${toKebab(name)}`, reads.test(name), input)
      if (!reads.test(name)) protocol.announce()
      return result
    }
  return memoize(client, (namespace) => memoize({}, (name) => method(namespace, name))) as AuthClient<A>
}

/** An object with a member for every name; made once each, so that it may stand in dependencies of components. */
function memoize(target: object, make: (name: string) => unknown): object {
  const known: Record<string, unknown> = Object.create(null)
  return new Proxy(target, {
    get(own, name) {
      // A promise would be looked for under `then`; symbols and `toJSON` are asked by the language.
      if (typeof name === 'symbol' || name in own || name === 'then' || name === 'toJSON') return own[name as keyof typeof own]
      return (known[name] ??= make(name))
    },
  })
}

function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
