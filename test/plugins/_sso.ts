/** A world with companies: two organizations with proved domains, a real OpenID Provider of each on https, and browsers. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuth } from 'authkernel'
import type { Adapter, AnyContext, Auth, Kernel, MailMessage, Plugin, Provider, Runtime } from 'authkernel/kernel'
import { createPublicFetch } from 'authkernel/kernel/protocols'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { type SsoApi, ssoPlugin } from 'authkernel/plugins/sso'
import { type RealOp, realOp } from '../_op/real.ts'
import { baseConfig, Client, type recordingLogger } from '../_setup.ts'

export const origin = 'http://localhost:3000'
export const system = { system: true } as const

/** A certificate for `idp.example` and the key; openssl is there for the tests of `publicFetch`, too. */
export function makeCertificate(): { host: string; key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'authkernel-sso-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert, '-days', '2']
  const subject = ['-subj', '/CN=idp.example', '-addext', 'subjectAltName=DNS:idp.example']
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject], { stdio: 'ignore' })
  const made = { host: 'idp.example', key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(folder, { recursive: true })
  return made
}

/** What the identity provider of a company says of its users, by id. Tests may change it. */
export type Directory = Record<string, Record<string, unknown>>

/** `client`: what the client of the app is registered with, beside its secret. */
export type CompanyIdp = RealOp & { redirects: string[]; client: Record<string, unknown> }

/** A real provider with the client `app`. Push the callback URL of a connection to `redirects`: its id is known only later. */
export async function companyIdp(tls: ReturnType<typeof makeCertificate>, people: Directory): Promise<CompanyIdp> {
  const redirects: string[] = []
  const client: Record<string, unknown> = {}
  const op = await realOp(
    [],
    {
      claims: { openid: ['sub', 'groups', 'upn'], email: ['email', 'email_verified'], profile: ['name'] },
      findAccount: (_ctx: unknown, id: string) => (people[id] ? { accountId: id, claims: () => ({ sub: id, ...people[id] }) } : undefined),
      adapter: clientStore(redirects, client),
    },
    tls,
  )
  return Object.assign(op, { redirects, client })
}

/** Keeps what oidc-provider stores, and answers the one client with the redirect URIs of the moment. */
function clientStore(redirects: readonly string[], client: Record<string, unknown>) {
  const rows = new Map<string, Record<string, unknown>>()
  return class {
    private readonly name: string
    constructor(name: string) {
      this.name = name
    }
    upsert(id: string, payload: Record<string, unknown>) {
      rows.set(`${this.name} ${id}`, payload)
      return Promise.resolve()
    }
    find(id: string) {
      if (this.name === 'Client' && id === 'app')
        return Promise.resolve({ client_id: 'app', client_secret: 'the-secret-of-the-client', redirect_uris: [...redirects], ...client })
      return Promise.resolve(rows.get(`${this.name} ${id}`))
    }
    findByUid(uid: string) {
      return Promise.resolve([...rows.values()].find((row) => row['uid'] === uid))
    }
    findByUserCode() {
      return Promise.resolve(undefined)
    }
    consume(id: string) {
      const row = rows.get(`${this.name} ${id}`)
      if (row) row['consumed'] = Math.floor(Date.now() / 1000)
      return Promise.resolve()
    }
    destroy(id: string) {
      rows.delete(`${this.name} ${id}`)
      return Promise.resolve()
    }
    revokeByGrantId() {
      return Promise.resolve()
    }
  }
}

/** A `fetch` that reaches the provider by its name: for a provider of the app, beside the connections. */
export function fetchByName(cert: string): typeof fetch {
  const { send } = createPublicFetch({ allow: ['127.0.0.1'], ca: cert, lookup: () => ['127.0.0.1'] })
  return async (input, init) => {
    const request = new Request(input, init)
    const body = request.method === 'POST' ? { body: await request.text() } : {}
    const { content, status, headers } = await send(request.url, { headers: Object.fromEntries(request.headers), ...body })
    return new Response(content, { status, headers })
  }
}

export type SsoAuth = Auth<SsoApi & OrganizationsApi & ApiKeysApi>
export interface SsoWorld {
  auth: SsoAuth
  mails: MailMessage[]
  store: Required<Adapter>
  logger: ReturnType<typeof recordingLogger>
  /** Signs in with the password of the app. */
  browser(user: string): Promise<Client>
  addMember(organizationId: string, userId: string): Promise<void>
  removeMember(organizationId: string, userId: string): Promise<void>
  changeRole(organizationId: string, userId: string, role: string): Promise<void>
  isMember(organizationId: string, userId: string): Promise<boolean>
  prove(organizationId: string, domain: string): Promise<void>
  /** As a job of the app. */
  job<T>(work: (ctx: AnyContext) => Promise<T>): Promise<T>
  /** Rows of connections of further organizations. */
  fillConnections(count: number): Promise<void>
  /** An organization with proved domains, owned by a stored user. */
  company(name: string, owner: string, domains: readonly string[]): Promise<string>
}

/** Real time, because the real provider signs with it; `advance` moves it. */
export function movedRuntime(): Runtime & { advance(ms: number): void } {
  let moved = 0
  return {
    now: () => Date.now() + moved,
    random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
    fetch: globalThis.fetch,
    advance: (ms) => void (moved += ms),
  }
}

export async function ssoWorld(
  store: Required<Adapter>,
  {
    strategy = 'database',
    cert,
    plugins = [],
    providers = [],
    runtime = movedRuntime(),
  }: { strategy?: 'jwt' | 'database'; cert: string; plugins?: readonly Plugin[]; providers?: readonly Provider[]; runtime?: Runtime },
): Promise<SsoWorld> {
  const dns = new Map<string, string[]>()
  const mails: MailMessage[] = []
  let inside: Kernel | undefined
  const base = baseConfig({
    origin,
    runtime,
    session: { strategy, ...(strategy === 'jwt' && { revocable: true }) },
    providers: [
      {
        id: 'credentials',
        name: 'Password',
        type: 'credentials',
        credentials: { user: { label: 'User', type: 'text', autocomplete: 'username' } },
        authorize: async ({ user }) => (typeof user === 'string' ? await store.getUser(user) : null),
      },
      ...providers,
    ],
  })
  const auth = createAuth(base)
    .use(adapterPlugin(store))
    .use({
      name: 'network',
      setup(kernel) {
        inside = kernel
        kernel.provide('publicFetch', createPublicFetch({ allow: ['127.0.0.1'], ca: cert, lookup: () => ['127.0.0.1'] }))
        kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) })
      },
    })
    .use(apiKeysPlugin())
    .use(organizationsPlugin({ domains: { isPublicSuffix: () => false, resolveTxt: (name) => Promise.resolve([dns.get(name) ?? []]) } }))
    .use(ssoPlugin()) as unknown as SsoAuth
  for (const plugin of plugins) auth.use(plugin)
  await auth.ready()
  const prove = async (id: string, domain: string): Promise<void> => {
    const { claim, prove: look } = auth.organizations.domains
    const { record, text } = await claim(system, id, domain)
    dns.set(record, [text])
    await look(system, id, domain)
  }
  return {
    auth,
    mails,
    store,
    logger: base.logger,
    async browser(user) {
      const client = new Client(auth)
      await client.post('/callback/credentials', { user })
      return client
    },
    removeMember: (organizationId, userId) =>
      inside!.job({ job: 'test' }, async (ctx) => void (await ctx.service('organizations').removeMember(ctx, { organizationId, userId }))),
    changeRole: (organizationId, userId, role) =>
      inside!.job({ job: 'test' }, async (ctx) => ctx.service('organizations').setRole(ctx, { organizationId, userId, role })),
    isMember: (organizationId, userId) =>
      inside!.job(
        { job: 'test' },
        async (ctx) => (await ctx.service('organizations').findMember(ctx, { organizationId, userId })) !== null,
      ),
    addMember: (organizationId, userId) =>
      inside!.job({ job: 'test' }, async (ctx) => void (await ctx.service('organizations').addMember(ctx, { organizationId, userId }))),
    job: (work) => inside!.job({ job: 'test' }, work),
    fillConnections: (count) =>
      inside!.job({ job: 'test' }, async (ctx) => {
        const row = (at: number) => ({
          id: at.toString(16).padStart(24, '0'),
          organizationId: `organization-${at}`,
          name: `Company ${at}`,
          type: 'oidc' as const,
          enabled: true,
          settings: { issuer: 'https://idp.example', clientId: 'app' },
          secret: null,
          mapping: {},
          roles: {},
          domains: null,
          join: true,
          otherDomains: false,
          version: 0,
          created: ctx.now,
        })
        for (let at = 0; at < count; at += 500)
          await ctx.records('ssoConnection').createMany(Array.from({ length: Math.min(500, count - at) }, (_, more) => row(at + more)))
      }),
    async company(name, owner, domains) {
      const { organizations } = auth
      const { id } = await organizations.create({ userId: owner }, { name })
      for (const domain of domains) await prove(id, domain)
      return id
    },
    prove,
  }
}

/** From the form of a connection through the company's provider and back; the answer of the callback. */
export async function signInWith(client: Client, op: RealOp, providerId: string, login: string, callbackUrl = '/'): Promise<Response> {
  const started = await client.post(`/signin/${providerId}`, { callbackUrl })
  return client.get(await op.visit(started.headers.get('location') ?? '', { login }))
}
