/** What every rule of the contract works with: the adapter under test and fresh values. */
import {
  type AccountKey,
  type Adapter,
  type AdapterAccount,
  type AdapterAuthenticator,
  type AdapterMethod,
  type AdapterSession,
  type AdapterUser,
  type Awaitable,
  type Store,
  type VerificationToken,
  sha256,
  toHex,
} from 'authkernel/kernel'
import type { TestContext } from 'vitest'
import { it } from './runner.ts'

/** What `testAdapter` needs. */
export interface TestAdapterOptions {
  /** Makes the adapter, once. Its store may hold other data: every test brings different values. */
  adapter(): Awaitable<Adapter>
  /** Runs after the last test: drop the database, close connections. */
  close?(): Awaitable<unknown>
  /** Operations that run at once in the tests of races; default 20. */
  parallel?: number
  /**
   * Rules that the adapter is known to break, by the text of their tests. These tests must then fail: a repaired rule is noticed, and
   * the list stays a true account of what is missing. Races of the list are left out, as luck may win them.
   */
  gaps?: readonly string[]
  /** Operations that the adapter is known not to have: rules about them are left out. Others that it lacks are reported as skipped. */
  lacks?: readonly AdapterMethod[]
}

/** The adapter under test, and makers of records with different keys. */
export interface Subject {
  /** Operations at once in races. */
  readonly parallel: number
  /** One rule. `methods` beyond the 19 may be absent: the test then says so and ends. */
  rule(text: string, methods: readonly AdapterMethod[], test: (adapter: Required<Adapter>) => Promise<void>): void
  /** A stored user. */
  storeUser(adapter: Required<Adapter>, values?: Partial<AdapterUser>): Promise<AdapterUser>
}

/** Asks the adapter to be there only when a test runs: `beforeAll` makes it. */
export function createSubject(
  adapter: () => Adapter | undefined,
  options: Pick<TestAdapterOptions, 'parallel' | 'gaps' | 'lacks'>,
): Subject {
  const gaps = new Set(options.gaps)
  return {
    parallel: options.parallel ?? 20,
    rule(text, methods, test) {
      const known = gaps.has(text)
      // Luck may win a race; everything else fails every time.
      if (methods.some((method) => options.lacks?.includes(method)) || (known && text.startsWith('race:'))) return
      it(known ? `${text} (known gap: must fail)` : text, async (context: TestContext) => {
        const subject = adapter()
        if (!subject) throw new Error('options.adapter() returned nothing')
        const absent = methods.filter((method) => !hasMethod(subject, method))
        if (absent.length > 0) context.skip(`the adapter has no ${absent.join(', ')}`)
        if (!known) return test(toPromises(subject))
        const failed = await test(toPromises(subject)).then(
          () => false,
          () => true,
        )
        if (!failed) throw new Error('this rule holds now: take it off the list of gaps')
      })
    },
    storeUser: async (subject, values) => subject.createUser(newUser(values)),
  }
}

/** Whether an adapter, or a store over one, can do an operation. */
export function hasMethod(adapter: Adapter, method: AdapterMethod): boolean {
  return 'supports' in adapter ? (adapter as Store).supports(method) : typeof adapter[method] === 'function'
}

// Operations may be synchronous: a thrown error and a rejected promise are the same to a rule.
function toPromises(adapter: Adapter): Required<Adapter> {
  return new Proxy(adapter, {
    get(target, name) {
      const operation = Reflect.get(target, name) as unknown
      return typeof operation === 'function' ? async (...args: unknown[]) => Reflect.apply(operation, target, args) : operation
    },
  }) as Required<Adapter>
}

/** Text that is in no other record, with a part that shows where it came from. */
export function unique(prefix = 'k'): string {
  return `${prefix}-${crypto.randomUUID()}`
}

/** A user as the kernel creates one: an own id, an address in lower case, not yet verified. */
export function newUser(values: Partial<AdapterUser> = {}): AdapterUser {
  return { id: crypto.randomUUID(), name: 'Ada', email: `${unique('ada')}@example.com`, emailVerified: null, image: null, ...values }
}

/** An account with the token fields that are stored by default. */
export function newAccount(userId: string, values: Partial<AdapterAccount> = {}): AdapterAccount {
  return {
    userId,
    type: 'oidc',
    provider: 'acme',
    providerAccountId: unique('account'),
    access_token: 'access',
    refresh_token: 'refresh',
    id_token: 'id',
    expires_at: 1_893_456_000,
    scope: 'openid email',
    token_type: 'bearer',
    session_state: 'state',
    ...values,
  }
}

/** Ids of sessions, by their tokens or by the hashes that an adapter may list. */
export async function listedIds(sessions: readonly Pick<AdapterSession, 'sessionToken'>[]): Promise<string[]> {
  const ids = sessions.map(async ({ sessionToken }) =>
    sessionToken.startsWith('sha256:') ? sessionToken.slice('sha256:'.length) : toHex(await sha256(sessionToken)),
  )
  return (await Promise.all(ids)).sort()
}

/** A session that ends in an hour. */
export function newSession(userId: string, values: Partial<AdapterSession> = {}): AdapterSession {
  return { sessionToken: crypto.randomUUID(), userId, expires: inHours(1), ...values }
}

/** A token that ends in an hour. */
export function newToken(values: Partial<VerificationToken> = {}): VerificationToken {
  return { identifier: `${unique('ada')}@example.com`, token: unique('token'), expires: inHours(1), ...values }
}

/** An authenticator at counter 1. */
export function newAuthenticator(userId: string, values: Partial<AdapterAuthenticator> = {}): AdapterAuthenticator {
  const credentialID = values.credentialID ?? btoa(unique('credential'))
  return {
    credentialID,
    userId,
    providerAccountId: credentialID,
    credentialPublicKey: btoa(unique('public-key')),
    counter: 1,
    credentialDeviceType: 'multiDevice',
    credentialBackedUp: true,
    transports: 'internal,hybrid',
    ...values,
  }
}

/** The key of an account alone: adapters may reject what else a caller hands over. */
export function accountKey({ provider, providerAccountId }: AccountKey): AccountKey {
  return { provider, providerAccountId }
}

/** The key of a token alone. */
export function tokenKey({ identifier, token }: VerificationToken): Omit<VerificationToken, 'expires'> {
  return { identifier, token }
}

/** A date that many hours from now, with milliseconds that a store could lose. */
export function inHours(hours: number): Date {
  return new Date(Math.floor(Date.now() / 1000) * 1000 + hours * 3_600_000 + 123)
}
