/** The account that `authkernel init` writes, so that a new app can be tried at once. It must sign in on the developer's machine and nowhere else. */
import { assertOptions, type CredentialsConfig } from 'authkernel/kernel'

// Through the registry: the CLI looks for it, and there may be two copies of the package.
const demoMark: unique symbol = /* @__PURE__ */ Symbol.for('authkernel.demoAccount') as never

/** When the demo account exists. */
export interface DemoAccountOptions {
  /**
   * The framework's own flag for its development server: `import.meta.env?.DEV` with Vite, `import.meta.dev` with Nuxt,
   * `process.env.NODE_ENV !== 'production'` elsewhere. Anything but `true`: it does not sign in.
   */
  development: boolean | undefined
}

/**
 * A provider whose username and password are both "demo": for the first minutes of an app. It signs in only in development, and only where the host
 * of the request is a loopback host. `ready()` and `authkernel doctor` name it. Remove it when another sign-in method works.
 */
export function demoAccount(options: DemoAccountOptions): CredentialsConfig {
  assertOptions('demoAccount', options, { development: true })
  const { development } = options
  const isOn = development === true
  const provider: CredentialsConfig = {
    id: 'demo',
    name: 'Demo',
    type: 'credentials',
    // Without fields the sign-in page shows nothing.
    ...(isOn && { credentials: { username: { label: 'Username' }, password: { label: 'Password', type: 'password' } } }),
    authorize: ({ username, password }) => (isOn && username === 'demo' && password === 'demo' ? { id: 'demo', name: 'Demo' } : null),
  }
  return Object.assign(provider, { [demoMark]: true })
}

/** Whether a provider is the demo account. */
export function isDemoAccount(provider: object): boolean {
  return demoMark in provider
}
