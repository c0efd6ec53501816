/** What events mean: the name, outcome and persons of each. Only what is named here gets into a record. */
import type { AnyEvent, Login } from 'authkernel/kernel'
import { refused, signInFailed } from './facts-failures.ts'
import {
  about,
  anonymous,
  type Ending,
  endingOf,
  type Fact,
  type Message,
  number,
  ofAccount,
  ofLogin,
  plainOf,
  reasonOf,
  scalars,
  success,
  text,
  user,
} from './message.ts'
import type { AuditActor } from './record.ts'

/** The facts of an event; none for what is told by another one. */
export function factsOf({ event, message }: AnyEvent): Fact[] {
  const known = Object.hasOwn(kinds, event) ? kinds[event] : undefined
  const told = message as unknown as Message
  const fact = known ? known(told) : unknownEvent(event, told)
  return Array.isArray(fact) ? fact : fact ? [fact] : []
}

/** Events whose records are written before the answer, when the log is durable. */
export function isDurable(name: string): boolean {
  return /^(?:password\.(?:set|changed|removed|reset\.completed)|factor|backupCodes|address|passkey|apiKey|key|impersonation|admin|user\.(?:banned|unbanned|deleted|merged))\b/.test(
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
    // A session that goes on is told by `noted`.
    const isNew = id !== undefined && (login as Login).session === 'new'
    const begun: Fact = {
      name: 'signIn.succeeded',
      outcome: success,
      ...common,
      target: { isNewUser: (login as Login).isNewUser, factors: (login as Login).proof?.factors },
    }
    return isNew ? [begun, { name: 'session.created', outcome: success, ...common }] : [begun]
  },
  signInFailed,
  refused,
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
  createUser: (message) => withProof('user.created', message),
  updateUser: (message) => withProof('user.updated', message),
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
  deviceBinding: ({ what, reason, sessionId, userId }) => ({
    name: `dbsc.${text(what)}`,
    ...endingOf(what === 'failed' ? 'failure' : success, reason),
    ...about({ id: userId }),
    sessionId: text(sessionId),
  }),
  accountSwitched: ({ user: person, from }) => ({
    name: 'session.switched',
    outcome: success,
    ...about(person),
    actor: about(from ?? person).actor,
  }),
  deviceNew: ({ user: person }) => ({ name: 'device.new', outcome: success, ...about(person) }),
  organizationChanged: ({ act, organizationId, by, userId, role, id }) => ({
    name: `org.${text(act)}`,
    outcome: success,
    actor: by === null ? { type: 'system' } : user(by),
    ...(typeof userId === 'string' && { subject: { type: 'user', id: userId } }),
    target: { organizationId: text(organizationId), role: text(role), id: text(id) },
  }),
  impersonationStarted: (message) => impersonation('started', { outcome: success }, message),
  impersonationEnded: (message) => impersonation('ended', { outcome: success }, message),
  impersonationDenied: (message) => impersonation('denied', { outcome: 'denied', reason: 'can' }, message),
  noted({ name, outcome, user: person, reason, provider, sessionId, typed, details }) {
    const fact: Fact = {
      name: String(name),
      ...endingOf(outcome, reason),
      ...about(person),
      provider: text(provider),
      sessionId: text(sessionId),
      typed: text(typed),
      target: plainOf(details),
    }
    // A step-up gives the session a new token.
    return name === 'stepUp.completed' ? [fact, { ...fact, name: 'session.rotated' }] : fact
  },
  guestCreated: ({ user: person }) => ({ name: 'guest.created', outcome: success, ...about(person) }),
  guestConverted: ({ guest, user: person }) => ({
    name: 'guest.converted',
    outcome: success,
    ...about(person),
    target: { guest: text((guest as { id?: unknown } | undefined)?.id) },
  }),
  signalReceived: (message) => ({
    name: 'signal.received',
    outcome: success,
    actor: { type: 'provider', id: String(message['provider']) },
    ...scalars(message),
  }),
  providerLogout: (message) => ({
    name: 'signOut.remote',
    outcome: success,
    actor: { type: 'provider', id: String(message['provider']) },
    provider: text(message['provider']),
    target: { sid: text(message['sid']), sub: text(message['sub']), channel: text(message['channel']) },
  }),
  cleanedUp({ report }) {
    const count = (report as { records: Record<string, number> }).records['audit'] ?? 0
    return count > 0 ? { name: 'audit.pruned', outcome: success, actor: { type: 'system' }, target: { count } } : undefined
  },
  tokensRefreshed: (message) => ({ name: 'tokens.refreshed', outcome: success, ...scalars(message) }),
  tokensExpired: (message) => ({ name: 'tokens.expired', ...endingOf('failure', message['reason']), ...scalars(message) }),
  appSignedIn: (message) => ofApp('bearer.issued', message),
  appTokensRefreshed: (message) => ofApp('bearer.refreshed', message),
  // Somebody copied a token: the owner or a thief was here.
  appTokenReused: (message) => ({ ...ofApp('bearer.reuseDetected', message, { outcome: 'denied', reason: 'reused' }), actor: anonymous }),
  appSessionEnded: (message) => ofApp('bearer.revoked', message),
  deviceFlowStarted: (message) => ({ name: 'deviceFlow.started', outcome: success, target: { client: text(message['clientId']) } }),
  deviceFlowApproved: (message) => ofApp('deviceFlow.approved', message),
  deviceFlowDenied: (message) => ofApp('deviceFlow.denied', message, { outcome: 'denied', reason: 'person' }),
  keyRotated: ({ kid, alg, compromised }) => ({
    name: 'key.rotated',
    outcome: success,
    actor: { type: 'system' },
    target: { kid: text(kid), alg: text(alg), compromised: compromised === true },
  }),
  configurationFault: ({ error }) => ({
    name: 'config.fault',
    outcome: 'failure',
    reason: reasonOf(error),
    actor: { type: 'system' },
  }),
}

const adminNames: Readonly<Record<string, string>> = { ban: 'user.banned', unban: 'user.unbanned' }
const credentialNames: Readonly<Record<string, string>> = {
  'password added': 'password.set',
  'factor added': 'factor.enrolled',
  'apiKey added': 'apiKey.created',
  'apiKey removed': 'apiKey.revoked',
  'apiKey changed': 'apiKey.rotated',
  'address added': 'address.proved',
}

/** A mailed link, an administrator, or a provider that vouches for it: the address was proved by this request. Stores may keep whole seconds. */
function withProof(name: string, { user: person, facts }: Message): Fact[] {
  const fact: Fact = { name, outcome: success, ...about(person) }
  const proved = (person as { emailVerified?: unknown }).emailVerified
  const { at } = facts as { at: number }
  return proved instanceof Date && proved.getTime() >= at - 1000 ? [fact, { ...fact, name: 'address.proved' }] : [fact]
}
function ofApp(name: string, { id, user: person, clientId, by }: Message, ending: Ending = { outcome: success }): Fact {
  return { name, ...ending, ...about(person), sessionId: text(id), target: { client: text(clientId), by: text(by) } }
}
function impersonation(what: string, ending: Ending, { admin, user: person, reason }: Message): Fact {
  const actor: AuditActor = { ...about(admin).actor, type: 'admin' }
  return { name: `impersonation.${what}`, ...ending, ...about(person), actor, target: { reason: text(reason) } }
}
/** Events of plugins that are unknown here: persons and plain facts under names that hold no secret. */
function unknownEvent(event: string, message: Message): Fact {
  const fault = message['error']
  const ending: Ending = fault ? { outcome: 'failure', reason: reasonOf(fault) } : { outcome: success }
  return { name: event, ...ending, ...about(message['user']), ...scalars(message) }
}
