/** A host with an email provider, and people who use it: for the tests of the email type. */
import { type Adapter, type AuthConfig, type AuthError, createAuth, type EmailConfig, type VerificationRequest } from 'authkernel'
import { memoryAdapter, memoryData, type MemoryData } from '../../plugins/memory.ts'

export const secret = 'a secret of more than thirty-two characters'
export const origin = 'https://app.example'

/** A person with a browser: keeps cookies, follows nothing. */
export interface Person {
  request(path: string, init?: { method?: string; form?: Record<string, string> | string; json?: unknown; headers?: Record<string, string> }): Promise<Response>
  /** Token for forms; its cookie is kept. */
  csrf(): Promise<string>
  /** Asks for a link. */
  ask(email: string, more?: Record<string, string>): Promise<Response>
  /** Opens a mailed link. */
  open(url: string): Promise<Response>
  session(): Promise<{ user?: { email?: string } } | null>
  cookies: Map<string, string>
}
export interface Host {
  auth: ReturnType<typeof createAuth>
  data: MemoryData
  adapter: Required<Adapter>
  /** Mails handed to sendVerificationRequest. */
  mails: VerificationRequest[]
  /** What was logged as an error. */
  errors: AuthError[]
  /** Milliseconds; settable. */
  clock: { now: number }
  person(): Person
}

/** A host. `provider` replaces what sends; `config` goes over everything. */
export function createHost(provider: Partial<EmailConfig> = {}, config: AuthConfig = {}, change: (adapter: Required<Adapter>) => Adapter = (same) => same): Host {
  const data = memoryData()
  const adapter = memoryAdapter(data)
  const mails: VerificationRequest[] = []
  const errors: AuthError[] = []
  const clock = { now: Date.UTC(2026, 0, 1) }
  const send = (mail: VerificationRequest): void => void mails.push(mail)
  const own = provider.server || provider.api ? {} : { sendVerificationRequest: send }
  const auth = createAuth({
    env: false,
    secret,
    origin,
    trustHost: true,
    adapter: change(adapter),
    logger: { error: (error) => void errors.push(error as AuthError), warn: () => {} },
    runtime: { now: () => clock.now },
    providers: [{ id: 'mail', name: 'Mail', type: 'email', ...own, ...provider } as EmailConfig],
    ...config,
  })
  return { auth, data, adapter, mails, errors, clock, person: () => createPerson(auth, provider.id ?? 'mail', config.origin ?? origin) }
}

export function createPerson(auth: { handler(request: Request): Promise<Response> }, id: string, base = origin): Person {
  const cookies = new Map<string, string>()
  const person: Person = {
    cookies,
    async request(path, { method, form, json, headers = {} } = {}) {
      const body = json !== undefined ? JSON.stringify(json) : form !== undefined ? new URLSearchParams(form).toString() : undefined
      const type = json !== undefined ? 'application/json' : 'application/x-www-form-urlencoded'
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await auth.handler(
        new Request(new URL(path, base), {
          method: method ?? (body === undefined ? 'GET' : 'POST'),
          headers: { ...(cookie && { cookie }), ...(body !== undefined && { 'content-type': type }), ...headers },
          ...(body !== undefined && { body }),
        }),
      )
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? []
        if (value === '' || /max-age=0/i.test(line)) cookies.delete(name)
        else cookies.set(name, value)
      }
      return response
    },
    async csrf() {
      const { csrfToken } = (await (await person.request('/auth/csrf')).json()) as { csrfToken: string }
      return csrfToken
    },
    async ask(email, more = {}) {
      return person.request(`/auth/signin/${id}`, { form: { email, csrfToken: await person.csrf(), ...more } })
    },
    async open(url) {
      const { pathname, search } = new URL(url)
      return person.request(pathname + search)
    },
    async session() {
      return (await (await person.request('/auth/session')).json()) as { user?: { email?: string } } | null
    },
  }
  return person
}

/** Where an answer leads. */
export const to = (response: Response): string => response.headers.get('location') ?? `(${response.status})`
export const verifyRequest = `${origin}/auth/verify-request?provider=mail&type=email`
export const errorAt = (type: string): string => `${origin}/auth/error?error=${type}`
