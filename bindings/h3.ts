/** h3 2 and 1, and Nitro: `app.use((event) => auth.h3.handler(event))`, or `H3Auth(config)`. */
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { h3Api, type H3Api, type H3Event } from './_shared/h3.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'
export type { AnyH3Event, H3Api, H3Context, H3Event, H3EventOfNode } from './_shared/h3.ts'

/** Puts `h3` on `auth`. */
export function h3Binding(options: NoOptions = {}): Plugin<{ h3: H3Api }> {
  assertOptions('h3Binding', options, {})
  return { name: 'h3', setup: (kernel) => ({ h3: h3Api(() => kernel) }) }
}

/** The API of a configuration, or of a function of the event: workers have their secrets in the event. */
export function H3Auth(config: ConfigSource<H3Event>, ...plugins: readonly Plugin[]): H3Api {
  return h3Api(kernelsOf('h3', config, { plugins }))
}
