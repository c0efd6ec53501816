/** Sign-in for mobile and desktop apps. The code is loaded at first use, so that pages do not carry it. */
import type { AppClient, AppClientOptions } from './app-types.ts'
import { AuthClientError } from './protocol.ts'

const methods = ['signIn', 'finish', 'startDevice', 'accessToken', 'headers', 'fetch', 'getSession', 'signOut'] as const

/** A client of bearerPlugin: no cookies, no DOM. */
export function createAppClient(options: AppClientOptions): AppClient {
  let loaded: Promise<AppClient> | undefined
  const call =
    (name: (typeof methods)[number]) =>
    async (...given: never[]): Promise<unknown> => {
      loaded ??= import('./app-flow.ts').then(({ appFlow }) => appFlow(options, AuthClientError))
      return ((await loaded)[name] as (...values: never[]) => unknown)(...given)
    }
  // Each method answers what that of the loaded client answers.
  return Object.fromEntries(methods.map((name) => [name, call(name)])) as unknown as AppClient
}
