/** What events mean: the name, outcome and persons of each. Only what is named here gets into a record. */
import type { AnyEvent, AuthError, Login } from 'authkernel/kernel'
import type { AuditActor, AuditRecord, AuditSubject } from './record.ts'

/** What an event says. `typed` was typed by a stranger and is keyed before it is kept. */
export interface Fact extends Pick<AuditRecord, 'name' | 'outcome'> {
  reason?: string | undefined
  actor?: AuditActor
  subject?: AuditSubject
  provider?: string | undefined
  method?: string | undefined
  amr?: readonly string[] | undefined
  sessionId?: string | undefined
  target?: Record<string, string | number | boolean | undefined>
  typed?: string | undefined
}
type Message = Record<string, unknown>

const anonymous: AuditActor = { type: 'anonymous' }
const user = (id: unknown): AuditActor => (id === undefined || id === null ? anonymous : { type: 'user', id: String(id) })
const success = 'success' as const

/** The facts of an event; none for what is told by another one. */
export function factsOf({ event, message }: AnyEvent): Fact[] {
  const known = Object.hasOwn(kinds, event) ? kinds[event] : undefined
  const told = message as unknown as Message
  const fact = known ? known(told) : unknownEvent(event, told)
  return Array.isArray(fact) ? fact : fact ? [fact] : []
}

/** Events whose records are written before the answer, when the log is durable. */
export function isDurable(name: string): boolean {
  return /^(?:password|factor|backupCodes|address|passkey|apiKey|key|impersonation|admin|user\.(?:banned|unbanned|deleted|merged))\b/.test(
    name,
  )
}

const kinds: Readonly<Record<string, (message: Message) => Fact | Fact[] | undefined>> = {
  // `signedIn` tells it with the session.
  signIn: () => undefined,
  session: () => undefined,
  signedIn({ login, session }) {
    const id = (session as { id?: string } | null)?.id
    const common = { ...ofLogin(login as Login), sessionId: id }
    const begun: Fact = {
      name: 'signIn.succeeded',
      outcome: success,
      ...common,
      target: { isNewUser: (login as Login).isNewUser, factors: (login as Login).proof?.factors },
    }
    return id === undefined ? [begun] : [begun, { name: 'session.created', outcome: success, ...common }]
  },
  signInFailed({ provider, error, user: person, account, tried }) {
    const fault = error as AuthError
    const refused = refusals[fault.type] ?? (fault.cause?.['retryAfter'] === undefined ? undefined : 'limit')
    const { type: method } = (account ?? {}) as { type?: string }
    const whom = (person as { id?: unknown } | undefined)?.id
    const common = { reason: fault.type, provider: text(provider), method, actor: anonymous, typed: text(tried) }
    const subject = whom === undefined || whom === null ? {} : { subject: { type: 'user', id: String(whom) } }
    if (refused) return { name: 'request.refused', outcome: 'denied', ...common, target: { kind: refused } }
    if (fault.type === 'AccountNotLinked' || fault.type === 'OAuthAccountNotLinked')
      return { name: 'account.linkRefused', outcome: 'denied', ...common, ...subject }
    return { name: 'signIn.failed', outcome: fault.status === 403 ? 'denied' : 'failure', ...common, ...subject }
  },
  loginParked: ({ login, by }) => ({ name: 'signIn.parked', outcome: success, ...ofLogin(login as Login), target: { by: text(by) } }),
  loginResumed: ({ login, by }) => ({ name: 'signIn.resumed', outcome: success, ...ofLogin(login as Login), target: { by: text(by) } }),
  signOut(message) {
    const { session, token, userId, sessionId } = message as {
      session?: { userId?: string } | null
      token?: Message | null
      userId?: string
      sessionId?: string
    }
    return {
      name: 'signOut.completed',
      outcome: success,
      actor: user(userId ?? session?.userId ?? token?.['sub']),
      sessionId: sessionId ?? text(token?.['sid']),
    }
  },
  createUser: ({ user: person }) => ({ name: 'user.created', outcome: success, ...about(person) }),
  updateUser: ({ user: person }) => ({ name: 'user.updated', outcome: success, ...about(person) }),
  deleteUser: ({ userId }) => ({ name: 'user.deleted', outcome: success, subject: { type: 'user', id: String(userId) } }),
  linkAccount: ({ account, user: person }) => ({ name: 'account.linked', outcome: success, ...about(person), ...ofAccount(account) }),
  unlinkAccount: ({ userId, account }) => ({ name: 'account.unlinked', outcome: success, ...about({ id: userId }), ...ofAccount(account) }),
  linkRequested: ({ user: person, provider }) => ({
    name: 'account.linkRequested',
    outcome: success,
    ...about(person),
    provider: text(provider),
  }),
  sessionsEnded: ({ which, count, by }) => {
    const { userId, id } = (which ?? {}) as { userId?: string; id?: string }
    return {
      name: 'session.revoked',
      outcome: success,
      ...(userId !== undefined && { subject: { type: 'user', id: userId } }),
      sessionId: id,
      target: { count: number(count), by: text(by) },
    }
  },
  credentialChanged({ user: person, kind, action, id }) {
    const [name, target] = [credentialNames[`${text(kind)} ${text(action)}`] ?? `${text(kind)}.${text(action)}`, { id: text(id) }]
    return { name, outcome: success, ...about(person), target }
  },
  backupCodeUsed: ({ user: person, left }) => ({
    name: 'backupCodes.used',
    outcome: success,
    ...about(person),
    target: { left: number(left) },
  }),
  // Why an administrator did it is what the log is for.
  factorsReset: ({ user: person, admin, reason }) => ({
    name: 'factor.reset',
    outcome: success,
    ...about(person),
    actor: { ...about(admin).actor, type: 'admin' },
    target: { reason: text(reason) },
  }),
  adminAct: ({ admin, act, user: person, reason }) => ({
    name: adminNames[String(act)] ?? `admin.${text(act)}`,
    outcome: success,
    ...about(person),
    actor: { ...about(admin).actor, type: 'admin' },
    target: { reason: text(reason) },
  }),
  organizationChanged: ({ act, organizationId, by, userId, role, id }) => ({
    name: `org.${text(act)}`,
    outcome: success,
    actor: by === null ? { type: 'system' } : user(by),
    ...(typeof userId === 'string' && { subject: { type: 'user', id: userId } }),
    target: { organizationId: text(organizationId), role: text(role), id: text(id) },
  }),
  impersonationStarted: (message) => impersonation('started', success, message),
  impersonationEnded: (message) => impersonation('ended', success, message),
  impersonationDenied: (message) => impersonation('denied', 'denied', message),
  tokensRefreshed: (message) => ({ name: 'tokens.refreshed', outcome: success, ...scalars(message) }),
  tokensExpired: (message) => ({ name: 'tokens.expired', outcome: 'failure', ...scalars(message) }),
  appSignedIn: (message) => ofApp('bearer.issued', success, message),
  appTokensRefreshed: (message) => ofApp('bearer.refreshed', success, message),
  // Somebody copied a token: the owner or a thief was here.
  appTokenReused: (message) => ({ ...ofApp('bearer.reuseDetected', 'denied', message), actor: anonymous }),
  appSessionEnded: (message) => ofApp('bearer.revoked', success, message),
  deviceFlowStarted: (message) => ({ name: 'deviceFlow.started', outcome: success, target: { client: text(message['clientId']) } }),
  deviceFlowApproved: (message) => ofApp('deviceFlow.approved', success, message),
  deviceFlowDenied: (message) => ofApp('deviceFlow.denied', 'denied', message),
  keyRotated: ({ kid, alg, compromised }) => ({
    name: 'key.rotated',
    outcome: success,
    actor: { type: 'system' },
    target: { kid: text(kid), alg: text(alg), compromised: compromised === true },
  }),
  refused({ reason, route, error }) {
    const fault = error as AuthError
    const kind = refusals[fault.type] ?? reasons[String(reason)] ?? text(reason)
    const { method, path } = (route ?? {}) as { method?: string; path?: string }
    return {
      name: 'request.refused',
      outcome: 'denied',
      reason: fault.type ?? fault.name,
      actor: anonymous,
      target: { kind, route: path && `${method} ${path}` },
    }
  },
  configurationFault: ({ error }) => ({
    name: 'config.fault',
    outcome: 'failure',
    reason: (error as AuthError).type,
    actor: { type: 'system' },
  }),
}

const refusals: Readonly<Record<string, string>> = {
  TooManyRequests: 'limit',
  CaptchaRequired: 'captcha',
  CaptchaUnavailable: 'captcha',
  MissingCSRF: 'csrf',
  InvalidCheck: 'replay',
}
const reasons: Readonly<Record<string, string>> = { MissingCSRF: 'csrf', TooManyRequests: 'limit', UntrustedHost: 'host' }
const adminNames: Readonly<Record<string, string>> = { ban: 'user.banned', unban: 'user.unbanned' }
const credentialNames: Readonly<Record<string, string>> = {
  'password added': 'password.set',
  'factor added': 'factor.enrolled',
  'apiKey added': 'apiKey.created',
  'apiKey removed': 'apiKey.revoked',
  'apiKey changed': 'apiKey.rotated',
  'address added': 'address.proved',
}

function ofApp(name: string, outcome: Fact['outcome'], { id, user: person, clientId, by }: Message): Fact {
  return { name, outcome, ...about(person), sessionId: text(id), target: { client: text(clientId), by: text(by) } }
}
function impersonation(what: string, outcome: Fact['outcome'], { admin, user: person, reason }: Message): Fact {
  const actor: AuditActor = { ...about(admin).actor, type: 'admin' }
  return { name: `impersonation.${what}`, outcome, ...about(person), actor, target: { reason: text(reason) } }
}
function ofLogin({ user: person, account, proof }: Login): Pick<Fact, 'actor' | 'subject' | 'provider' | 'method' | 'amr'> {
  return { ...about(person), ...ofAccount(account), amr: proof?.amr }
}
function ofAccount(account: unknown): Pick<Fact, 'provider' | 'method'> {
  const { provider, type } = Object(account) as { provider?: string; type?: string }
  return { provider, method: type }
}
function about(person: unknown): Required<Pick<Fact, 'actor'>> & Pick<Fact, 'subject'> {
  const id = (person as { id?: unknown } | null | undefined)?.id
  return id === undefined || id === null ? { actor: anonymous } : { actor: user(id), subject: { type: 'user', id: String(id) } }
}

/** Events of plugins that are unknown here: persons and plain facts under names that hold no secret. */
function unknownEvent(event: string, message: Message): Fact {
  const fault = message['error'] as AuthError | undefined
  return { name: event, outcome: fault ? 'failure' : success, reason: fault?.type, ...about(message['user']), ...scalars(message) }
}

const plain = ['kind', 'action', 'count', 'by', 'reason', 'level', 'left', 'role', 'organizationId', 'scope', 'id']
function scalars(message: Message): Pick<Fact, 'provider' | 'subject' | 'target' | 'sessionId'> {
  const target = Object.fromEntries(
    plain.flatMap((key) => (['string', 'number', 'boolean'].includes(typeof message[key]) ? [[key, message[key] as string]] : [])),
  )
  const { userId, provider, sessionId } = message
  return {
    target,
    provider: text(provider),
    sessionId: text(sessionId),
    ...(userId !== undefined && userId !== null && { subject: { type: 'user', id: String(userId as string) } }),
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
