/** A host with an email provider, and people who use it: for the tests of the email type. */
import {
  type Adapter,
  type Auth,
  type AuthConfig,
  type AuthError,
  createAuth,
  type EmailConfig,
  type VerificationRequest,
} from 'authkernel'
import { memoryAdapter, memoryData, type MemoryData } from '../../plugins/adapters/memory/index.ts'
import { Client, fakeRuntime, recordingLogger, secret } from '../_setup.ts'

export const origin = 'https://app.example'

/** A person with a browser. */
export class Person extends Client {
  readonly #provider: string

  constructor(auth: Auth, provider: string, base: string = origin) {
    super(auth, base)
    this.#provider = provider
  }
  /** Asks for a link; answers where that leads. */
  async ask(email: string, more: Record<string, string> = {}): Promise<string> {
    return to(await this.post(`/signin/${this.#provider}`, { email, ...more }))
  }
  /** Opens a magic link; answers where that leads. */
  async open(url: string): Promise<string> {
    return to(await this.get(url))
  }
}

/** Where an answer leads. */
export function to(response: Response): string {
  return response.headers.get('location') ?? `(${response.status})`
}

export interface Host {
  auth: Auth
  data: MemoryData
  adapter: Required<Adapter>
  /** Mails handed to the default sendVerificationRequest. */
  mails: VerificationRequest[]
  /** Types of what was logged as an error. */
  logged(): string[]
  errors: AuthError[]
  clock: ReturnType<typeof fakeRuntime>
  /** The last mailed link. */
  link(): string
  person(): Person
}

/** A host with one email provider `mail`; `change` puts something between the kernel and the memory adapter. */
export function createHost(
  provider: Partial<EmailConfig> = {},
  config: AuthConfig = {},
  change: (adapter: Required<Adapter>) => Adapter = (same) => same,
): Host {
  const data = memoryData()
  const adapter = memoryAdapter(data)
  const mails: VerificationRequest[] = []
  const logger = recordingLogger()
  const clock = fakeRuntime()
  const own = provider.server || provider.api ? {} : { sendVerificationRequest: (mail: VerificationRequest) => void mails.push(mail) }
  const auth = createAuth({
    env: false,
    secret,
    origin,
    adapter: change(adapter),
    logger,
    providers: [{ id: 'mail', name: 'Mail', type: 'email', ...own, ...provider }],
    ...config,
    runtime: { ...clock, ...config.runtime },
  })
  return {
    auth,
    data,
    adapter,
    mails,
    errors: logger.errors as AuthError[],
    logged: () => (logger.errors as AuthError[]).map(({ type }) => type),
    clock,
    link: () => mails.at(-1)?.url ?? '',
    person: () => new Person(auth, provider.id ?? 'mail', config.origin),
  }
}

/** The adapter with the names of its operations written down as they are called. */
export function counted(adapter: Required<Adapter>, calls: string[]): Adapter {
  const entries = Object.entries(adapter).map(([name, operation]) => [
    name,
    (...args: unknown[]) => {
      calls.push(name)
      return (operation as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(entries) as Adapter
}

export const verifyRequest: string = `${origin}/auth/verify-request?provider=mail&type=email`
export const errorAt = (type: string): string => `${origin}/auth/error?error=${type}`
