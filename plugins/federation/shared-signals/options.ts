/** Options, checked once. */
import { assertOptions, AuthError, type CompileView } from 'authkernel/kernel'

/** What a signal may say. */
export type SignalKind =
  | 'session-revoked'
  | 'sessions-revoked'
  | 'credential-change'
  | 'account-disabled'
  | 'account-purged'
  | 'verification'
  | 'stream-updated'
  /** Experimental: Global Token Revocation. */
  | 'token-revocation'
/** Signals that may end sessions. */
export type RevokingSignal = 'session-revoked' | 'sessions-revoked' | 'credential-change' | 'account-disabled' | 'account-purged'

/** Options of one sender. */
export interface SignalsOfProvider {
  /** Signals that end sessions: a list, or true for all of them. Default: none, a signal is an event alone. */
  revoke?: boolean | readonly RevokingSignal[] | undefined
  /** What the sender puts into the header `Authorization`, as agreed with it: `Bearer …`. Default: the signature is enough. */
  authorization?: string | undefined
  /**
   * Experimental, because it is a draft that may change: Global Token Revocation, as Okta Universal Logout sends it. `POST
   * <basePath>/global-token-revocation/<id>` ends the sessions of a user that this provider began. Default false.
   */
  experimentalGlobalTokenRevocation?: boolean | undefined
}
/** How this server sends signals itself. Needs organizationsPlugin and jwtPlugin. */
export interface TransmitterOptions {
  /** Seconds from one look for pushes that are due to the next, in each process; default 15. 0: none, call `auth.sharedSignals.deliver`. At most 3600. */
  every?: number | undefined
  /** Seconds that a poll waits for an event, where the receiver does not ask for an answer at once; default 10. 0: it does not wait. At most 50, and two less than `deadlines.request`. */
  longPoll?: number | undefined
  /** Users whom a stream has from the beginning; receivers add and remove others. Default `all`: of the organization. */
  subjects?: 'all' | 'none' | undefined
}
/** Options of `sharedSignalsPlugin`: which providers may send signals, what a signal does, and whether this server sends signals. */
export interface SharedSignalsOptions {
  /** Who may send, by provider id. Needed without `transmitter`. */
  providers?: Readonly<Record<string, SignalsOfProvider>> | undefined
  /** Sends signals to receivers that organizations configured. Default: it sends none. */
  transmitter?: TransmitterOptions | undefined
}
/** The transmitter with its defaults. */
export type ResolvedTransmitter = Required<{ [K in keyof TransmitterOptions]: NonNullable<TransmitterOptions[K]> }>
export interface Sender {
  revokes: ReadonlySet<SignalKind>
  authorization: string | undefined
  revokesGlobally: boolean
  /** Whether names of users are remembered: where there are records. */
  keeps: boolean
}

const revoking: readonly RevokingSignal[] = [
  'session-revoked',
  'sessions-revoked',
  'credential-change',
  'account-disabled',
  'account-purged',
]

/** Throws AuthError that names the option. */
export function resolveOptions(options: SharedSignalsOptions): ReadonlyMap<string, Sender> {
  assertOptions('Plugin "shared-signals"', options ?? {}, { providers: true, transmitter: true })
  const given = Object.entries(options?.providers ?? {})
  if (given.length === 0 && options?.transmitter === undefined)
    throw optionError('`providers` is empty. Write the ids of providers that may send: `providers: { acme: {} }`.')
  for (const [id, own] of given)
    assertOptions(
      'Plugin "shared-signals"',
      own,
      { revoke: true, authorization: true, experimentalGlobalTokenRevocation: true },
      `providers.${id}`,
    )
  return new Map(
    given.map(([id, { revoke = false, authorization, experimentalGlobalTokenRevocation: revokesGlobally = false }]) => {
      if (typeof revokesGlobally !== 'boolean')
        throw optionError(`\`providers.${id}.experimentalGlobalTokenRevocation\` must be true or false.`)
      return [id, { revokes: new Set(revokedKinds(id, revoke)), authorization, revokesGlobally, keeps: false }]
    }),
  )
}

/** Undefined: this server sends no signals. Throws AuthError that names the option. */
export function resolveTransmitter({ transmitter }: SharedSignalsOptions): ResolvedTransmitter | undefined {
  if (transmitter === undefined) return undefined
  assertOptions('Plugin "shared-signals"', transmitter, { every: true, longPoll: true, subjects: true }, 'transmitter')
  const { every = 15, longPoll = 10, subjects = 'all' } = transmitter
  if (!(Number.isFinite(every) && (every === 0 || (every >= 1 && every <= 3600))))
    throw optionError('`transmitter.every` must be 1 to 3600 seconds, or 0.')
  if (!(Number.isFinite(longPoll) && longPoll >= 0 && longPoll <= 50)) throw optionError('`transmitter.longPoll` must be 0 to 50 seconds.')
  if (subjects !== 'all' && subjects !== 'none') throw optionError('`transmitter.subjects` must be "all" or "none".')
  return { every, longPoll, subjects }
}

/** Ids that no provider has are mistakes. */
export function checkProviders(senders: ReadonlyMap<string, Sender>, view: CompileView): void {
  for (const id of senders.keys()) {
    const type = view.providers.get(id)?.type
    if (type !== 'oauth' && type !== 'oidc')
      throw optionError(
        `\`providers.${id}\` names ${type ? `a provider of type ${type}` : 'no provider'}. Use the id of an oauth or oidc provider.`,
      )
  }
}

function revokedKinds(id: string, revoke: boolean | readonly RevokingSignal[]): readonly RevokingSignal[] {
  const list = revoke === true ? revoking : revoke === false ? [] : revoke
  for (const kind of list)
    if (!revoking.includes(kind)) throw optionError(`\`providers.${id}.revoke\` has ${JSON.stringify(kind)}: use ${revoking.join(', ')}.`)
  return list
}

function optionError(what: string): AuthError {
  return new AuthError(`sharedSignalsPlugin: ${what}`)
}
