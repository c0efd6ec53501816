/** What a process of its own does in `races.test.ts`: it posts one response many times at once. */
import type { Adapter } from 'authkernel/kernel'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { samlPlugin } from 'authkernel/plugins/saml'
import { baseConfig, Client, recordingLogger } from '../_setup.ts'

/** Asks a worker to post a response. */
export interface SamlTask {
  do: 'saml'
  certificate: string
  /** Of the browser that began. */
  cookies: readonly [string, string][]
  encoded: string
  times: number
}

/** An app over a store, with the clock of the machine. */
export function samlSite(adapter: Adapter, certificate: string): ReturnType<typeof createAuth> {
  const runtime = { now: () => Date.now(), random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)), fetch }
  const idp = { entityId: 'https://idp.example/metadata', signInUrl: 'https://idp.example/sso', certificates: [certificate] }
  const config = baseConfig({ runtime, logger: recordingLogger(), throttle: false, session: { strategy: 'database' } })
  return createAuth(config)
    .use(adapterPlugin(adapter))
    .use(samlPlugin({ id: 'acme', name: 'Acme', idp }))
}

/** Answers where each post led to. */
export async function postAtOnce(
  adapter: Adapter,
  { certificate, cookies, encoded, times }: SamlTask,
): Promise<PromiseSettledResult<string>[]> {
  const auth = samlSite(adapter, certificate)
  return Promise.allSettled(
    Array.from({ length: times }, async () => {
      const client = new Client(auth)
      for (const [name, value] of cookies) client.cookies.set(name, value)
      const answer = await client.send('/saml/acme/acs', { method: 'POST', body: new URLSearchParams({ SAMLResponse: encoded }) })
      return answer.headers.get('location') ?? `${answer.status}`
    }),
  )
}
