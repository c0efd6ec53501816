/** Options of `devPlugin`. */
import { assertOptions, AuthError } from 'authkernel/kernel'

/** A user to sign in as with one click. */
export interface TestUser {
  /** Email address. Use a domain that receives no mail, such as `example.test`. */
  email: string
  /** Name on pages. Default: the part before the `@`. */
  name?: string | undefined
  /** Whether `emailVerified` is stored for a new user. Default true. */
  verified?: boolean | undefined
}
/** What `devPlugin` takes. */
export interface DevOptions {
  /**
   * The framework's own flag for its development server: `import.meta.env?.DEV` with Vite, `import.meta.dev` with Nuxt,
   * `process.env.NODE_ENV !== 'production'` elsewhere. Anything but `true`: the plugin registers nothing.
   */
  development: boolean | undefined
  /** Users on the panel who are made at their first sign-in. Default: Ann and Bob at `example.test`. */
  users?: readonly TestUser[] | undefined
  /** Where the link to the panel and caught mails are printed. Default: `console.log`. */
  print?: ((text: string) => void) | undefined
}
/** Options with their defaults. */
export interface ResolvedDevOptions {
  readonly development: boolean
  readonly users: readonly { readonly email: string; readonly name: string; readonly verified: boolean }[]
  readonly print: (text: string) => void
}

const testUsers: readonly TestUser[] = [
  { name: 'Ann', email: 'ann@example.test' },
  { name: 'Bob', email: 'bob@example.test' },
]

/** Throws AuthError for options of the wrong shape, and for `development: true` in a process whose NODE_ENV is `production`. */
export function resolveOptions(options: DevOptions): ResolvedDevOptions {
  assertOptions('Plugin "dev"', options, { development: true, users: true, print: true })
  const { development, users = testUsers, print = (text) => globalThis.console.log(text) } = options
  if (development === true && isProduction())
    throw new AuthError(
      'Plugin "dev": `development` is true, and NODE_ENV is "production". The panel signs in as any user: give the flag of your development server, such as `process.env.NODE_ENV !== \'production\'`.',
    )
  for (const user of users)
    if (typeof user?.email !== 'string' || !user.email.includes('@'))
      throw new AuthError(`Plugin "dev": each of \`users\` needs an \`email\`. Found ${JSON.stringify(user)}.`)
  return {
    development: development === true,
    users: users.map(({ email, name, verified }) => ({
      email: email.toLowerCase(),
      name: name ?? email.slice(0, email.indexOf('@')),
      verified: verified ?? true,
    })),
    print,
  }
}

function isProduction(): boolean {
  return typeof process !== 'undefined' && process.env?.['NODE_ENV'] === 'production'
}
