/** What events mean: the name, outcome and users of each. Only what is named here gets into a record. */
import type { AnyEvent, Login } from 'authkernel/kernel'
import { factsOfRefusal, factsOfFailedSignIn } from './facts-failures.ts'
import {
  personsOf,
  anonymous,
  type Ending,
  endingOf,
  type Fact,
  type Message,
  readNumber,
  ofAccount,
  ofLogin,
  plainOf,
  errorCode,
  plainFacts,
  success,
  optionalText,
  userActor,
} from './message.ts'
import type { AuditActor } from './record.ts'

/** The facts of an event; none where another event has them. */
export function eventFacts({ event, message }: AnyEvent): Fact[] {
  const known = Object.hasOwn(kinds, event) ? kinds[event] : undefined
  // Events have fields of their own. `kinds` reads each event by those that it has.
  const fields = message as unknown as Message
  const fact = known ? known(fields) : unknownEvent(event, fields)
  return Array.isArray(fact) ? fact : fact ? [fact] : []
}

/** Events whose records are written before the answer, when the log is durable. */
export function isDurable(name: string): boolean {
  return /^(?:password\.(?:set|changed|removed|reset\.completed)|factor|backupCodes|address|passkey|apiKey|agent\.(?:created|rotated|renewed|stopped|started|deleted|approval)|client\.(?:created|updated|rotated|disabled|enabled|deleted)|key|impersonation|admin|user\.(?:banned|unbanned|deleted|merged))\b/.test(
    name,
  )
}

const kinds: Readonly<Record<string, (message: Message) => Fact | Fact[] | undefined>> = {
  // `signedIn` has it, with the session.
  signIn: () => undefined,
  session: () => undefined,
  // A signal for plugins: what they remove has events of its own.
  tenantCleanedUp: () => undefined,
  signedIn({ login, session }) {
    const id = (session as { id?: string } | null)?.id
    const common = { ...ofLogin(login as Login), sessionId: id }
    // `noted` has a session that goes on.
    const isNew = id !== undefined && (login as Login).session === 'new'
    const begun: Fact = {
      name: 'signIn.succeeded',
      outcome: success,
      ...common,
      target: { isNewUser: (login as Login).isNewUser, factors: (login as Login).proof?.factors },
    }
    return isNew ? [begun, { name: 'session.created', outcome: success, ...common }] : [begun]
  },
  signInFailed: factsOfFailedSignIn,
  refused: factsOfRefusal,
  loginParked: ({ login, by }) => ({
    name: 'signIn.parked',
    outcome: success,
    ...ofLogin(login as Login),
    target: { by: optionalText(by) },
  }),
  loginResumed: ({ login, by }) => ({
    name: 'signIn.resumed',
    outcome: success,
    ...ofLogin(login as Login),
    target: { by: optionalText(by) },
  }),
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
      actor: userActor(userId ?? session?.userId ?? token?.['sub']),
      sessionId: sessionId ?? optionalText(token?.['sid']),
    }
  },
  createUser: (message) => withProof('user.created', message),
  updateUser: (message) => withProof('user.updated', message),
  deleteUser: ({ userId }) => ({ name: 'user.deleted', outcome: success, subject: { type: 'user', id: String(userId) } }),
  linkAccount: ({ account, user: person }) => ({ name: 'account.linked', outcome: success, ...personsOf(person), ...ofAccount(account) }),
  unlinkAccount: ({ userId, account }) => ({
    name: 'account.unlinked',
    outcome: success,
    ...personsOf({ id: userId }),
    ...ofAccount(account),
  }),
  linkRequested: ({ user: person, provider }) => ({
    name: 'account.linkRequested',
    outcome: success,
    ...personsOf(person),
    provider: optionalText(provider),
  }),
  sessionsEnded: ({ which, count, by }) => {
    const { userId, id } = (which ?? {}) as { userId?: string; id?: string }
    return {
      name: 'session.revoked',
      outcome: success,
      ...(userId !== undefined && { subject: { type: 'user', id: userId } }),
      sessionId: id,
      target: { count: readNumber(count), by: optionalText(by) },
    }
  },
  credentialChanged({ user: person, kind, action, id }) {
    const [name, target] = [
      credentialNames[`${optionalText(kind)} ${optionalText(action)}`] ?? `${optionalText(kind)}.${optionalText(action)}`,
      { id: optionalText(id) },
    ]
    return { name, outcome: success, ...personsOf(person), target }
  },
  backupCodeUsed: ({ user: person, left }) => ({
    name: 'backupCodes.used',
    outcome: success,
    ...personsOf(person),
    target: { left: readNumber(left) },
  }),
  // Why an administrator did it is what the log is for.
  factorsReset: ({ user: person, admin, reason }) => ({
    name: 'factor.reset',
    outcome: success,
    ...personsOf(person),
    actor: { ...personsOf(admin).actor, type: 'admin' },
    target: { reason: optionalText(reason) },
  }),
  adminAct: ({ admin, act, user: person, reason }) => ({
    name: adminNames[String(act)] ?? `admin.${optionalText(act)}`,
    outcome: success,
    ...personsOf(person),
    actor: { ...personsOf(admin).actor, type: 'admin' },
    target: { reason: optionalText(reason) },
  }),
  adminApproval: ({ admin, what, act, user: person, reason, requestId }) => ({
    name: `approval.${optionalText(what)}`,
    outcome: success,
    ...personsOf(person),
    actor: { ...personsOf(admin).actor, type: 'admin' },
    target: { act: optionalText(act), reason: optionalText(reason), id: optionalText(requestId) },
  }),
  deviceBinding: ({ what, reason, sessionId, userId }) => ({
    name: `dbsc.${optionalText(what)}`,
    ...endingOf(what === 'failed' ? 'failure' : success, reason),
    ...personsOf({ id: userId }),
    sessionId: optionalText(sessionId),
  }),
  accountSwitched: ({ user: person, from }) => ({
    name: 'session.switched',
    outcome: success,
    ...personsOf(person),
    actor: personsOf(from ?? person).actor,
  }),
  deviceNew: ({ user: person }) => ({ name: 'device.new', outcome: success, ...personsOf(person) }),
  organizationChanged: ({ act, organizationId, by, userId, role, id }) => ({
    name: `org.${optionalText(act)}`,
    outcome: success,
    actor: by === null ? { type: 'system' } : userActor(by),
    ...(typeof userId === 'string' && { subject: { type: 'user', id: userId } }),
    target: { organizationId: optionalText(organizationId), role: optionalText(role), id: optionalText(id) },
  }),
  // The actor is the directory: `ctx.actAs`.
  scimChanged: ({ act, directoryId, organizationId, id, userId, attributes, changes }) => ({
    name: `scim.${optionalText(act)}`,
    outcome: success,
    ...(typeof userId === 'string' && { subject: { type: 'user', id: userId } }),
    target: {
      directoryId: optionalText(directoryId),
      organizationId: optionalText(organizationId),
      id: optionalText(id),
      attributes: Array.isArray(attributes) ? attributes.join(' ') : undefined,
      ...beforeAndAfter(changes),
    },
  }),
  impersonationStarted: (message) => factOfImpersonation('started', { outcome: success }, message),
  impersonationEnded: (message) => factOfImpersonation('ended', { outcome: success }, message),
  impersonationDenied: (message) => factOfImpersonation('denied', { outcome: 'denied', reason: 'can' }, message),
  noted({ name, outcome, user: person, reason, provider, sessionId, typed, details }) {
    const fact: Fact = {
      name: String(name),
      ...endingOf(outcome, reason),
      ...personsOf(person),
      provider: optionalText(provider),
      sessionId: optionalText(sessionId),
      typed: optionalText(typed),
      target: plainOf(details),
    }
    // A step-up gives the session a new token.
    return name === 'stepUp.completed' ? [fact, { ...fact, name: 'session.rotated' }] : fact
  },
  guestCreated: ({ user: person }) => ({ name: 'guest.created', outcome: success, ...personsOf(person) }),
  guestConverted: ({ guest, user: person }) => ({
    name: 'guest.converted',
    outcome: success,
    ...personsOf(person),
    target: { guest: optionalText((guest as { id?: unknown } | undefined)?.id) },
  }),
  signalReceived: (message) => ({
    name: 'signal.received',
    outcome: success,
    actor: { type: 'provider', id: String(message['provider']) },
    ...plainFacts(message),
  }),
  providerLogout: (message) => ({
    name: 'signOut.remote',
    outcome: success,
    actor: { type: 'provider', id: String(message['provider']) },
    provider: optionalText(message['provider']),
    target: { sid: optionalText(message['sid']), sub: optionalText(message['sub']), channel: optionalText(message['channel']) },
  }),
  cleanedUp({ report }) {
    const count = (report as { records: Record<string, number> }).records['audit'] ?? 0
    return count > 0 ? { name: 'audit.pruned', outcome: success, actor: { type: 'system' }, target: { count } } : undefined
  },
  tokensRefreshed: (message) => ({ name: 'tokens.refreshed', outcome: success, ...plainFacts(message) }),
  tokensExpired: (message) => ({ name: 'tokens.expired', ...endingOf('failure', message['reason']), ...plainFacts(message) }),
  appSignedIn: (message) => ofApp('bearer.issued', message),
  appTokensRefreshed: (message) => ofApp('bearer.refreshed', message),
  // A token was copied: the client was the owner or an attacker.
  appTokenReused: (message) => ({ ...ofApp('bearer.reuseDetected', message, { outcome: 'denied', reason: 'reused' }), actor: anonymous }),
  appSessionEnded: (message) => ofApp('bearer.revoked', message),
  deviceFlowStarted: (message) => ({ name: 'deviceFlow.started', outcome: success, target: { client: optionalText(message['clientId']) } }),
  deviceFlowApproved: (message) => ofApp('deviceFlow.approved', message),
  deviceFlowDenied: (message) => ofApp('deviceFlow.denied', message, { outcome: 'denied', reason: 'person' }),
  clientAuthorized: (message) => ofApp('client.authorized', message),
  clientGranted: (message) => ofApp('client.granted', message),
  organizationAllowedClient: (message) => ({
    ...ofApp(`client.organization.${String(message['what'])}`, message),
    target: { client: optionalText(message['clientId']), organization: optionalText(message['organizationId']) },
  }),
  identityAsserted: (message) => ofApp('client.asserted', { ...message, by: message['audience'] }),
  clientTokenExchanged: (message) => ofApp('client.exchanged', message),
  clientTokenReused: (message) => ({
    ...ofApp('client.reuseDetected', message, { outcome: 'denied', reason: 'reused' }),
    actor: anonymous,
  }),
  clientGrantEnded: (message) => ofApp('client.revoked', message),
  clientRegistered: (message) => ({
    name: 'client.registered',
    outcome: success,
    actor: anonymous,
    target: { client: optionalText(message['clientId']), title: optionalText(message['name']) },
  }),
  clientChanged: ({ act, by, user: person, clientId, name, members, reason, organizationId }) => ({
    name: `client.${String(act)}`,
    outcome: success,
    actor:
      person === null
        ? by === 'client'
          ? anonymous
          : { type: 'system' }
        : by === 'organization'
          ? personsOf(person).actor
          : { ...personsOf(person).actor, type: 'admin' },
    target: {
      client: optionalText(clientId),
      organization: optionalText(organizationId),
      title: optionalText(name),
      members: Array.isArray(members) && members.length > 0 ? members.join(' ') : undefined,
      reason: optionalText(reason) || undefined,
    },
  }),
  agentChanged({ act, by, admin, ...message }) {
    const fact = ofAgent(`agent.${String(act)}`, message)
    if (by === 'owner') return fact
    return { ...fact, actor: by === 'admin' ? { ...(admin ? personsOf(admin).actor : {}), type: 'admin' } : { type: 'system' } }
  },
  agentApproval({ what, ...message }) {
    const fact = ofAgent(`agent.approval.${String(what)}`, message)
    return what === 'approved' || what === 'denied' ? fact : { ...fact, actor: agentActor(message) }
  },
  agentActed: (message) => ({ ...ofAgent('agent.acted', message), actor: agentActor(message) }),
  keyRotated: ({ kid, alg, compromised }) => ({
    name: 'key.rotated',
    outcome: success,
    actor: { type: 'system' },
    target: { kid: optionalText(kid), alg: optionalText(alg), compromised: compromised === true },
  }),
  configurationFault: ({ error }) => ({
    name: 'config.fault',
    outcome: 'failure',
    reason: errorCode(error),
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

/** A magic link, an administrator, or a provider that vouches for it: the address was proved by this request. Stores may keep whole seconds. */
function withProof(name: string, { user: person, facts }: Message): Fact[] {
  const fact: Fact = { name, outcome: success, ...personsOf(person) }
  const proved = (person as { emailVerified?: unknown }).emailVerified
  const { at } = facts as { at: number }
  return proved instanceof Date && proved.getTime() >= at - 1000 ? [fact, { ...fact, name: 'address.proved' }] : [fact]
}
function ofApp(name: string, { id, user: person, clientId, by }: Message, ending: Ending = { outcome: success }): Fact {
  return {
    name,
    ...ending,
    ...personsOf(person),
    sessionId: optionalText(id),
    target: { client: optionalText(clientId), by: optionalText(by) },
  }
}
function ofAgent(name: string, { user: owner, agentId, scopes, task, approvalId, reason }: Message): Fact {
  const scope = Array.isArray(scopes) ? scopes.join(' ') : undefined
  const target = { agent: optionalText(agentId), scope, task: optionalText(task), approval: optionalText(approvalId) }
  return { name, outcome: success, ...personsOf(owner), target: { ...target, reason: optionalText(reason) || undefined } }
}
function agentActor({ agentId }: Message): AuditActor {
  return { type: 'machine', id: String(agentId) }
}
function factOfImpersonation(what: string, ending: Ending, { admin, user: person, reason }: Message): Fact {
  const actor: AuditActor = { ...personsOf(admin).actor, type: 'admin' }
  return { name: `impersonation.${what}`, ...ending, ...personsOf(person), actor, target: { reason: optionalText(reason) } }
}
/** Events of plugins that are unknown here: users and plain facts under names that hold no secret. */
function unknownEvent(event: string, message: Message): Fact {
  const fault = message['error']
  const ending: Ending = fault ? { outcome: 'failure', reason: errorCode(fault) } : { outcome: success }
  return { name: event, ...ending, ...personsOf(message['user']), ...plainFacts(message) }
}

// Values of a directory: the log says what the user was and became. Attributes without a value are left out.
function beforeAndAfter(changes: unknown): Record<string, string> {
  const entries = Object.entries(Object(changes) as Record<string, { before: unknown; after: unknown }>).slice(0, 30)
  const toFields = (side: 'before' | 'after'): [string, string][] =>
    entries.flatMap(([name, change]) => {
      const value = change[side]
      return value === null ? [] : [[`${side} ${name}`, typeof value === 'string' ? value : JSON.stringify(value)]]
    })
  return Object.fromEntries([...toFields('before'), ...toFields('after')])
}
